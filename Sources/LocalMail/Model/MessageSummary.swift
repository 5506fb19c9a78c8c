/// A mailbox of a header field: an EmailAddress of RFC 8621 §4.1.2.3.
public struct MailAddress: Hashable, Sendable {
    public let name: String?
    public let email: String

    public init(name: String? = nil, email: String) {
        self.name = name
        self.email = email
    }

    /// The name, or the address where there is no name.
    public var display: String {
        guard let name, !name.isEmpty else { return email }
        return name
    }
}

/// What lists, sorting and searches need of a message, in decoded text.
public struct MessageSummary: Hashable, Sendable {
    /// Message ids are without angle brackets.
    public var messageIDs: [String] = []
    public var inReplyTo: [String] = []
    public var references: [String] = []
    public var sender: [MailAddress] = []
    public var from: [MailAddress] = []
    public var to: [MailAddress] = []
    public var cc: [MailAddress] = []
    public var bcc: [MailAddress] = []
    public var subject: String?
    public var sentAt: MailInstant?
    public var hasAttachment = false
    /// At most 256 characters (RFC 8621 §4.1.4).
    public var preview = ""

    public init() {}
}

/// Reads messages. It is called without any lock and may be called by several threads at once.
public protocol MessageReader: Sendable {
    func summary(of message: [UInt8]) -> MessageSummary

    /// All text of the body that a search looks into, without the markup of HTML.
    func bodyText(of message: [UInt8]) -> String

    /// The texts of a message, and what its attachments are.
    /// - Throws: when no message can be read.
    func body(of message: [UInt8]) throws -> MessageBody

    /// One of the attachments of ``body(of:)``, and its decoded content.
    /// - Returns: `nil` where there is no such attachment.
    func attachment(
        _ index: Int, of message: [UInt8]
    ) throws -> (attachment: MessageAttachment, content: [UInt8])?

    /// The decoded values of the header fields of this name, in any case of letters.
    func headerValues(named name: String, in message: [UInt8]) -> [String]
}
