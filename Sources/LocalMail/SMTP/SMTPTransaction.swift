/// What MAIL began and what RCPT and BDAT added.
struct SMTPTransaction {
    let mailFrom: String
    let parameters: SMTPParameters
    var recipients: [String] = []
    /// What BDAT brought so far; `nil` before the first one.
    private(set) var chunks: [UInt8]?
    /// A chunk failed: the message cannot be completed any more (RFC 3030 §2).
    private(set) var isBroken = false

    /// - Throws: the reply to a MAIL command that begins nothing.
    init(
        parsing command: SMTPCommand, isExtended: Bool, messageBytes: Int
    ) throws(SMTPReply) {
        guard let path = command.path(after: "from:") else {
            throw SMTPReply(501, "5.1.7", "Syntax: MAIL FROM:<address>")
        }
        // Only EHLO offers parameters.
        guard isExtended || path.rest.isEmpty else {
            throw SMTPReply(555, "5.5.4", "Parameters need EHLO")
        }
        do throws(SMTPParameters.Failure) {
            parameters = try SMTPParameters(parsing: path.rest, messageBytes: messageBytes)
        } catch {
            switch error {
            case .syntax: throw SMTPReply(501, "5.5.4", "Invalid parameter")
            case .unknown: throw SMTPReply(555, "5.5.4", "Unknown parameter")
            case .tooLarge: throw SMTPReply(.messageTooLarge)
            }
        }
        guard path.isASCII || parameters.isUTF8 else {
            throw SMTPReply(550, "5.6.7", "The address needs SMTPUTF8")
        }
        mailFrom = path.address
    }

    /// - Returns: the address of a RCPT command.
    func recipient(parsing command: SMTPCommand) throws(SMTPReply) -> String {
        guard let path = command.path(after: "to:"), !path.address.isEmpty else {
            throw SMTPReply(501, "5.1.3", "Syntax: RCPT TO:<address>")
        }
        guard path.rest.isEmpty else { throw SMTPReply(555, "5.5.4", "Unknown parameter") }
        guard path.isASCII || parameters.isUTF8 else {
            throw SMTPReply(553, "5.6.7", "The address needs SMTPUTF8")
        }
        return path.address
    }

    func message(
        _ bytes: [UInt8], from clientName: String, isExtended: Bool, account: MailAccount?
    ) -> SMTPMessage {
        let name = parameters.isUTF8 ? "UTF8SMTP" : isExtended ? "ESMTP" : "SMTP"
        return SMTPMessage(
            mailFrom: mailFrom, recipients: recipients, bytes: bytes, clientName: clientName,
            account: account, protocolName: account == nil ? name : name + "A")
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
