/// The arguments of Mailbox/set (RFC 8621 §2.5).
///
/// An id that begins with `#` names a creation of the same call.
public struct FolderSet: Sendable {
    public var ifInState: String?
    public var create: [(creationID: String, draft: FolderDraft)] = []
    public var update: [(id: String, patch: FolderPatch)] = []
    public var destroy: [String] = []
    public var removesEmails = false

    public init() {}
}

public struct FolderDraft: Hashable, Sendable {
    public var name: String
    public var parentID: String?
    public var sortOrder = 0
    public var isSubscribed = true

    public init(name: String, parentID: String? = nil) {
        self.name = name
        self.parentID = parentID
    }
}

/// `nil` leaves a property as it is.
public struct FolderPatch: Hashable, Sendable {
    public enum Parent: Hashable, Sendable {
        case top
        case folder(String)
    }

    public var name: String?
    public var parent: Parent?
    public var sortOrder: Int?
    public var isSubscribed: Bool?

    public init() {}
}

public enum FolderSetError: Error, Hashable, Sendable {
    /// The account has as many folders as it may, or was removed.
    case forbidden
    case notFound
    case willDestroy
    case invalidProperties([String])
    case mailboxHasChild
    case mailboxHasEmail

    /// The type of the SetError of RFC 8620 §5.3.
    public var type: String {
        switch self {
        case .forbidden: "forbidden"
        case .notFound: "notFound"
        case .willDestroy: "willDestroy"
        case .invalidProperties: "invalidProperties"
        case .mailboxHasChild: "mailboxHasChild"
        case .mailboxHasEmail: "mailboxHasEmail"
        }
    }
}

/// The result of a /set or /import method. The lists are in the order of the arguments.
public struct MailSetResult<Created: Sendable, Failure: Error>: Sendable {
    public let oldState: String
    public internal(set) var newState: String
    public internal(set) var created: [(creationID: String, result: Result<Created, Failure>)] = []
    public internal(set) var updated: [(id: String, result: Result<Void, Failure>)] = []
    public internal(set) var destroyed: [(id: String, result: Result<Void, Failure>)] = []

    init(oldState: String) {
        self.oldState = oldState
        newState = oldState
    }
}

/// `ifInState` is not the state. Nothing was done.
public struct MailStateMismatch: Error, Hashable, Sendable {}
