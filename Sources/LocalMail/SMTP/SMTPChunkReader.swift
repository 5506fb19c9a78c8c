/// Reads a chunk after BDAT (RFC 3030 §2). Its bytes are taken whether it is accepted or not.
struct SMTPChunkReader {
    private(set) var left: Int
    let isLast: Bool
    /// The reply, if the chunk is not accepted.
    private(set) var failure: SMTPReply?

    init(left: Int, isLast: Bool, failure: SMTPReply?) {
        self.left = left
        self.isLast = isLast
        self.failure = failure
    }

    /// - Returns: whether the chunk is complete. Takes nothing of what follows it.
    mutating func read(
        _ input: inout SMTPInput, into transaction: inout SMTPTransaction?, limit: Int
    ) -> Bool {
        let bytes = input.take(left)
        left -= bytes.count
        if failure == nil, transaction?.append(bytes, limit: limit) == false {
            failure = SMTPReply(.messageTooLarge)
        }
        return left == 0
    }
}
