/// A message in an account: what an Email of RFC 8621 §4.1.1 has besides its content.
public struct MailEmail: Sendable {
    let number: UInt64
    let thread: UInt64
    let folders: [UInt64]
    /// In lower case, sorted.
    public let keywords: [String]
    public let receivedAt: MailInstant
    /// Shared with everybody who has the same message.
    public let content: MailContent

    public var id: String { MailID.text(.message, number) }
    public var blobID: String { MailID.text(.blob, number) }
    public var threadID: String { MailID.text(.thread, thread) }
    public var folderIDs: [String] { folders.map { MailID.text(.folder, $0) } }
    public var size: Int { content.bytes.count }
}

/// A Thread of RFC 8621 §3.
public struct MailThread: Hashable, Sendable {
    public let id: String
    /// Oldest first.
    public let emailIDs: [String]
}

/// An Identity of RFC 8621 §6. An account has one, which nobody changes.
public struct MailIdentity: Hashable, Sendable {
    public let id: String
    public let email: String
}

/// Bytes that an account may read: those that it uploaded, or a message.
public struct MailBlob: Sendable {
    public let id: String
    /// As the client named it.
    public let type: String
    public let bytes: [UInt8]

    public init(id: String, type: String, bytes: [UInt8]) {
        self.id = id
        self.type = type
        self.bytes = bytes
    }
}

/// An EmailSubmission of RFC 8621 §7. All are final: nothing waits to be sent.
public struct MailSubmission: Hashable, Sendable {
    public let id: String
    public let identityID: String
    public let emailID: String
    public let threadID: String
    public let envelope: MailEnvelope
    public let sentAt: MailInstant
    public let deliveryStatus: [RecipientStatus]
}

public struct MailEnvelope: Hashable, Sendable {
    public var mailFrom: String
    public var recipients: [String]

    public init(mailFrom: String, recipients: [String]) {
        self.mailFrom = mailFrom
        self.recipients = recipients
    }
}

/// A DeliveryStatus of RFC 8621 §7.
public struct RecipientStatus: Hashable, Sendable {
    public enum Delivered: String, Sendable {
        case queued, yes, no, unknown
    }

    public let address: String
    public let smtpReply: String
    public let delivered: Delivered
}
