/// Reads a message after DATA (RFC 5321 §4.5.2): only CRLF, a dot and CRLF end it.
///
/// A bare CR or LF makes the message invalid, is never a line end, and so never a part of the end.
/// Lines have at most 998 bytes, the limit of RFC 5321 §4.5.3.1.6: other servers break or reject
/// longer ones, and a test should find that out here. BDAT has no such limit.
struct SMTPDataReader {
    enum Outcome: Equatable {
        case message([UInt8])
        /// The reply to a message that is not accepted.
        case failed(SMTPReply)
        /// So large that waiting for its end is pointless.
        case endless
    }

    private enum Position {
        case lineStart, text
        /// After CR.
        case lineEnd
        /// After a dot at the start of a line.
        case dot
        /// After that and CR.
        case dotLineEnd
    }

    private let limit: Int
    private var message: [UInt8] = []
    private var position = Position.lineStart
    private var lineBytes = 0
    private var readBytes = 0
    private var failure: SMTPReply?

    init(limit: Int) {
        self.limit = limit
    }

    var heldBytes: Int { message.count }

    /// - Returns: `nil` until the message is complete. Takes nothing of what follows it.
    mutating func next(_ input: inout SMTPInput) -> Outcome? {
        while true {
            if position == .text { take(input.takeText()) }
            guard let byte = input.next() else { break }
            readBytes += 1
            if readBytes > limit * SMTPLimits.skippedTimes { return .endless }
            switch (position, byte) {
            case (.dotLineEnd, 0x0A): return failure.map { .failed($0) } ?? .message(message)
            case (.lineEnd, 0x0A): endLine()
            case (.lineEnd, 0x0D), (.dotLineEnd, 0x0D):
                fail(.bareLineEnd)
                position = .lineEnd
            case (.lineEnd, _), (.dotLineEnd, _):
                fail(.bareLineEnd)
                take(byte)
            case (.dot, 0x0D): position = .dotLineEnd
            case (_, 0x0D): position = .lineEnd
            case (_, 0x0A):
                fail(.bareLineEnd)
                position = .text
            case (.lineStart, UInt8(ascii: ".")): position = .dot
            default: take(byte)
            }
        }
        return readBytes > limit * SMTPLimits.skippedTimes ? .endless : nil
    }

    /// Of the two limits the one that is reached first counts, however the bytes are split.
    private mutating func take(_ text: ArraySlice<UInt8>) {
        readBytes += text.count
        let lineRoom = SMTPLimits.textLineBytes - 2 - lineBytes
        let room = limit - message.count
        lineBytes += text.count
        guard failure == nil else { return }
        guard text.count <= min(lineRoom, room) else {
            return fail(lineRoom <= room ? .lineTooLong : SMTPReply(.messageTooLarge))
        }
        message += text
    }

    private mutating func take(_ byte: UInt8) {
        position = .text
        lineBytes += 1
        if lineBytes > SMTPLimits.textLineBytes - 2 { fail(.lineTooLong) }
        append(byte)
    }

    private mutating func endLine() {
        append(0x0D)
        append(0x0A)
        lineBytes = 0
        position = .lineStart
    }

    private mutating func append(_ byte: UInt8) {
        guard failure == nil else { return }
        message.append(byte)
        if message.count > limit { fail(SMTPReply(.messageTooLarge)) }
    }

    private mutating func fail(_ reply: SMTPReply) {
        guard failure == nil else { return }
        failure = reply
        message = []
    }
}
