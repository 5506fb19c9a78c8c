/// A filter of messages (RFC 8621 §4.4.1).
public indirect enum MailFilter: Hashable, Sendable {
    case all([MailFilter])
    case any([MailFilter])
    /// None of them matches.
    case none([MailFilter])
    case condition(MailCondition)
}

/// One property of a FilterCondition. An unknown folder id matches no message.
public enum MailCondition: Hashable, Sendable {
    case inMailbox(String)
    /// In any mailbox besides these.
    case inMailboxOtherThan([String])
    case before(MailInstant)
    case after(MailInstant)
    case minSize(Int)
    case maxSize(Int)
    case allInThreadHaveKeyword(String)
    case someInThreadHaveKeyword(String)
    case noneInThreadHaveKeyword(String)
    case hasKeyword(String)
    case notKeyword(String)
    case hasAttachment(Bool)
    /// In From, To, Cc, Bcc, Subject or the body.
    case text(String)
    case from(String)
    case to(String)
    case cc(String)
    case bcc(String)
    case subject(String)
    case body(String)
    case header(name: String, value: String?)
}

/// A Comparator of RFC 8621 §4.4.2.
public struct MailSort: Hashable, Sendable {
    public enum Property: Hashable, Sendable {
        case receivedAt, sentAt, from, to, subject, size
        case hasKeyword(String)
        case allInThreadHaveKeyword(String)
        case someInThreadHaveKeyword(String)
    }

    public let property: Property
    public let isAscending: Bool

    public init(_ property: Property, isAscending: Bool = true) {
        self.property = property
        self.isAscending = isAscending
    }
}

/// What Email/query and Email/queryChanges ask for.
///
/// Without `sort` the newest messages come first. What the comparators leave equal is ordered by
/// id, in the direction of the first.
public struct MailQuery: Hashable, Sendable {
    public var filter: MailFilter?
    public var sort: [MailSort]
    public var collapseThreads: Bool

    public init(
        filter: MailFilter? = nil, sort: [MailSort] = [], collapseThreads: Bool = false
    ) {
        self.filter = filter
        self.sort = sort
        self.collapseThreads = collapseThreads
    }
}

/// What Mailbox/query asks for (RFC 8621 §2.3). What the comparators leave equal is ordered by id.
public struct FolderQuery: Hashable, Sendable {
    public indirect enum Filter: Hashable, Sendable {
        case all([Filter])
        case any([Filter])
        case none([Filter])
        /// `nil` for folders without a parent.
        case parent(String?)
        /// Names that contain the text, in any case of letters.
        case name(String)
        /// `nil` for folders without a role.
        case role(FolderRole?)
        case hasAnyRole(Bool)
        case isSubscribed(Bool)
    }

    public struct Sort: Hashable, Sendable {
        public enum Property: Hashable, Sendable {
            case sortOrder, name
        }

        public let property: Property
        public let isAscending: Bool

        public init(_ property: Property, isAscending: Bool = true) {
            self.property = property
            self.isAscending = isAscending
        }
    }

    public var filter: Filter?
    public var sort: [Sort]
    public var sortAsTree = false
    public var filterAsTree = false

    public init(filter: Filter? = nil, sort: [Sort] = []) {
        self.filter = filter
        self.sort = sort
    }
}

/// What EmailSubmission/query asks for (RFC 8621 §7.3). What the comparators leave equal is ordered
/// by id, which is the order of their time.
public struct SubmissionQuery: Hashable, Sendable {
    public indirect enum Filter: Hashable, Sendable {
        case all([Filter])
        case any([Filter])
        case none([Filter])
        case identities(Set<String>)
        case emails(Set<String>)
        case threads(Set<String>)
        /// Submissions are final, so any other status matches none.
        case undoStatus(String)
        case before(MailInstant)
        case after(MailInstant)
    }

    public struct Sort: Hashable, Sendable {
        public enum Property: Hashable, Sendable {
            case sentAt, emailID, threadID
        }

        public let property: Property
        public let isAscending: Bool

        public init(_ property: Property, isAscending: Bool = true) {
            self.property = property
            self.isAscending = isAscending
        }
    }

    public var filter: Filter?
    public var sort: [Sort] = []

    public init() {}
}

/// The part of the results that is asked for (RFC 8620 §5.5).
public struct QueryWindow: Hashable, Sendable {
    /// From the end if negative. Ignored where there is an anchor.
    public var position = 0
    public var anchor: String?
    public var anchorOffset = 0
    public var limit: Int?
    public var calculateTotal = false

    public init() {}
}

/// The answer to a /query method. `canCalculateChanges` is true for all but submissions.
public struct MailQueryResult: Hashable, Sendable {
    public let queryState: String
    public let position: Int
    public let ids: [String]
    public let total: Int?
}

public enum MailQueryError: Error, Hashable, Sendable {
    case anchorNotFound
    /// The filter is too deep or has too many conditions.
    case unsupportedFilter
}
