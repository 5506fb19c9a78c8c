/// What the messages endpoints of the accounts API need of a mail store.
public protocol MailStore: Sendable {
    /// Lists messages of the inbox and of every other folder but Trash, Drafts and Sent, newest
    /// first, ``MessagePage/length`` to a page.
    ///
    /// - Parameter page: from 1. A page after the last is empty.
    func messages(
        of account: MailAccount, page: Int
    ) async throws(MailStoreError) -> [MessageListing]

    /// Returns one message of any folder. Reading does not mark it as read.
    func message(
        _ id: String, of account: MailAccount
    ) async throws(MailStoreError) -> (listing: MessageListing, body: MessageBody)

    /// Returns the bytes of a message as they were delivered.
    func source(
        of id: String, of account: MailAccount
    ) async throws(MailStoreError) -> [UInt8]

    /// Returns an attachment and its decoded content.
    /// - Parameter index: in ``MessageBody/attachments``.
    func attachment(
        _ index: Int, of id: String, of account: MailAccount
    ) async throws(MailStoreError) -> (attachment: MessageAttachment, content: [UInt8])

    /// Destroys a message for good.
    func delete(_ id: String, of account: MailAccount) async throws(MailStoreError)

    /// - Returns: how many messages were unread before.
    func markRead(
        _ messages: MessageSelection, of account: MailAccount
    ) async throws(MailStoreError) -> Int

    /// Returns the messages of ``messages(of:page:)`` that arrived after `id`, newest first, as
    /// soon as there is one, and none at the deadline. Of more than a page's length the oldest are
    /// returned, so that the caller can go on from the first of the list.
    ///
    /// - Parameter id: `nil` for those that arrive from now on. The message may have been deleted.
    func newMessages(
        of account: MailAccount, after id: String?, until deadline: ContinuousClock.Instant
    ) async throws(MailStoreError) -> [MessageListing]
}

public enum MessagePage {
    /// Messages to a page.
    public static let length = 30
}

/// Why a mail store does not do what it was asked.
public enum MailStoreError: Error {
    case notFound
    /// The store cannot be reached, does not answer in time or is busy.
    case unavailable(retryAfter: Duration)
    /// The store answered what it must not. The cause has been reported.
    case invalidResponse
    /// A fault of this program, with its cause.
    case failed(any Error)
}

/// A message in a list.
public struct MessageListing: Hashable, Sendable {
    public let id: String
    /// The display name or address of the first author.
    public let sender: String
    public let from: String
    public let subject: String
    public let preview: String
    public let size: Int
    public let isRead: Bool
    public let receivedAt: MailInstant

    public init(
        id: String, sender: String, from: String, subject: String, preview: String, size: Int,
        isRead: Bool, receivedAt: MailInstant
    ) {
        self.id = id
        self.sender = sender
        self.from = from
        self.subject = subject
        self.preview = preview
        self.size = size
        self.isRead = isRead
        self.receivedAt = receivedAt
    }
}

/// Messages to mark as read.
public enum MessageSelection: Hashable, Sendable {
    /// An unknown id is ``MailStoreError/notFound``.
    case one(String)
    /// Unknown ids are passed over.
    case several([String])
    case all
}
