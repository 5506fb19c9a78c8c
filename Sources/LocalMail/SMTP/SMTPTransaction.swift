/// What MAIL began and what RCPT and BDAT added.
struct SMTPTransaction {
    let mailFrom: String
    let parameters: SMTPParameters
    var recipients: [String] = []
    /// What BDAT brought so far; `nil` before the first one.
    private(set) var chunks: [UInt8]?
    /// A chunk failed: the message cannot be completed any more (RFC 3030 §2).
    private(set) var isBroken = false

    init(mailFrom: String, parameters: SMTPParameters) {
        self.mailFrom = mailFrom
        self.parameters = parameters
    }

    mutating func beginChunk() {
        if chunks == nil { chunks = [] }
    }

    /// - Returns: `false` if the message is larger than `limit`.
    mutating func append(_ bytes: ArraySlice<UInt8>, limit: Int) -> Bool {
        guard let count = chunks?.count, count + bytes.count <= limit else {
            breakOff()
            return false
        }
        chunks?.append(contentsOf: bytes)
        return true
    }

    mutating func breakOff() {
        isBroken = true
        chunks = []
    }

    static func hasBareLineEnd(_ message: [UInt8]) -> Bool {
        var hasReturn = false
        for byte in message {
            if hasReturn != (byte == 0x0A) { return true }
            hasReturn = byte == 0x0D
        }
        return hasReturn
    }
}

/// A message that a client sent.
public struct SMTPMessage: Hashable, Sendable {
    /// Empty for the null reverse-path.
    public let mailFrom: String
    public let recipients: [String]
    public let bytes: [UInt8]
    /// What the client called itself.
    public let clientName: String
    /// Who it is, after AUTH.
    public let account: MailAccount?
    /// `SMTP`, `ESMTP`, `ESMTPA`, `UTF8SMTP` or `UTF8SMTPA`: the protocol of a Received field
    /// (RFC 3848, RFC 6531 §4.3).
    public let protocolName: String
}
