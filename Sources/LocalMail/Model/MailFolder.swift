/// A Mailbox of RFC 8621 §2.
public struct MailFolder: Hashable, Sendable {
    public let id: String
    public let name: String
    public let parentID: String?
    public let role: FolderRole?
    public let sortOrder: Int
    public let isSubscribed: Bool
    public let counts: FolderCounts

    /// Whether ``AccountMail/setFolders(_:)`` can destroy it.
    public var mayDelete: Bool { role != .inbox }
}

/// The roles of the folders of a new account, in their order.
public enum FolderRole: String, CaseIterable, Sendable {
    case inbox, drafts, sent, archive, junk, trash

    /// The name of the folder of a new account.
    public var folderName: String {
        switch self {
        case .inbox: "Inbox"
        case .drafts: "Drafts"
        case .sent: "Sent"
        case .archive: "Archive"
        case .junk: "Junk"
        case .trash: "Trash"
        }
    }
}

/// A message is unread that has neither `$seen` nor `$draft`. A thread is in each folder that has
/// one of its messages, and unread if any of its messages is.
public struct FolderCounts: Hashable, Sendable {
    public internal(set) var totalEmails = 0
    public internal(set) var unreadEmails = 0
    public internal(set) var totalThreads = 0
    public internal(set) var unreadThreads = 0

    public init() {}
}
