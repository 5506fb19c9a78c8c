/// What has a state of its own (RFC 8620 §1.6.3).
public enum MailType: String, CaseIterable, Sendable {
    case mailbox = "Mailbox"
    case email = "Email"
    case thread = "Thread"
    case submission = "EmailSubmission"
    case identity = "Identity"
    /// Changes when a message is delivered (RFC 8621 §1.5). Has no changes to ask for.
    case emailDelivery = "EmailDelivery"
}

/// The states of all types of one account at one time.
public struct MailStates: Hashable, Sendable {
    let numbers: [UInt64]

    public subscript(type: MailType) -> String {
        MailID.text(.state, numbers[type.index])
    }

    /// The types whose state is another one than in `earlier`.
    public func changes(since earlier: MailStates) -> [MailType] {
        MailType.allCases.filter { numbers[$0.index] != earlier.numbers[$0.index] }
    }
}

extension MailType {
    var index: Int {
        switch self {
        case .mailbox: 0
        case .email: 1
        case .thread: 2
        case .submission: 3
        case .identity: 4
        case .emailDelivery: 5
        }
    }
}

/// The answer to a /changes method (RFC 8620 §5.2).
public struct MailChanges: Hashable, Sendable {
    public let oldState: String
    public let newState: String
    public let hasMoreChanges: Bool
    public let created: [String]
    public let updated: [String]
    public let destroyed: [String]
    /// Of mailboxes: only counts of the updated ones changed (`updatedProperties`).
    public let onlyCounts: Bool
}

/// The answer to a /queryChanges method (RFC 8620 §5.6).
public struct MailQueryChanges: Hashable, Sendable {
    public struct Added: Hashable, Sendable {
        public let id: String
        public let index: Int
    }

    public let oldState: String
    public let newState: String
    public let total: Int?
    public let removed: [String]
    public let added: [Added]
}

public enum MailChangesError: Error, Hashable, Sendable {
    /// The state is unknown, or older than the change log.
    case cannotCalculateChanges
    /// More than `maxChanges` of a query's results changed.
    case tooManyChanges
    /// The filter is too deep or has too many conditions.
    case unsupportedFilter
}
