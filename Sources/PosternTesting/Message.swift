internal import AuthAPI
public import FoundationEssentials

/// A message that the server delivered or, for an address elsewhere, kept.
public struct Message: Sendable {
    public struct Header: Sendable {
        public let name: String
        /// Decoded.
        public let value: String
    }

    public struct Attachment: Sendable {
        public let filename: String
        public let type: String
        /// In bytes.
        public let size: Int
    }

    /// From 1, in the order of arrival.
    public let number: Int
    /// The addresses that received it.
    public let recipients: [String]
    /// The ids of the message in the inboxes of its recipients; `nil` for one elsewhere.
    public let ids: [String?]
    /// The address that SMTP's MAIL named.
    public let mailFrom: String
    /// The address of the first author; empty without one.
    public let from: String
    public let subject: String
    /// `nil` where the message has no such text.
    public let text: String?
    public let html: String?
    public let attachments: [Attachment]
    public let headers: [Header]
    public let receivedAt: Date
    /// The `http` and `https` addresses of the text and of the HTML, each once, in order.
    public let links: [String]
    /// The numbers of six digits that stand alone, each once, in order.
    public let codes: [String]

    init(_ message: TestMessage) {
        number = message.number
        recipients = message.recipients
        ids = message.ids
        mailFrom = message.mailFrom
        from = message.from
        subject = message.subject
        text = message.text
        html = message.html
        attachments = message.attachments.map {
            Attachment(filename: $0.filename, type: $0.type, size: $0.size)
        }
        headers = message.headers.map { Header(name: $0.name, value: $0.value) }
        receivedAt = Date(message.receivedAt)
        links = message.links
        codes = message.codes
    }
}

/// What a message has attached when it is delivered.
public struct NewAttachment: Sendable {
    public let filename: String
    public let type: String
    public let content: [UInt8]

    public init(filename: String, type: String, content: [UInt8]) {
        self.filename = filename
        self.type = type
        self.content = content
    }
}

/// How mail fails.
public enum MailFault: Sendable {
    /// Every recipient is unknown.
    case recipients
    /// Every message is rejected.
    case messages
    /// Nothing works for now.
    case temporary
}

/// Where an application sends its mail.
public struct SMTPAddress: Sendable, Hashable {
    public let host: String
    public let port: Int

    /// - Returns: `nil` for the path of a socket.
    init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = UInt16(text[text.utf8.index(after: colon)...])
        else { return nil }
        host = String(text[..<colon].drop { $0 == "[" }.prefix { $0 != "]" })
        self.port = Int(port)
    }
}
