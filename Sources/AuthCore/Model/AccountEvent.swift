public typealias AccountEventID = Identifier<AccountEvent>

/// One change of an account that a mail store has to follow: a mailbox to make, lock, unlock,
/// remove or give another size.
public struct AccountEvent: Equatable, Sendable {
    /// From 1, without gaps, in the order in which events are read.
    public let number: Int64
    /// The same each time the event is sent.
    public let id: AccountEventID
    /// One of ``AuditEvent/Kind/ofAccounts``.
    public let kind: AuditEvent.Kind
    public let time: Instant
    public let account: AccountID
    public let address: Address
    /// In bytes; only for a new account and for a changed quota.
    public let quota: Int64?

    public init(
        number: Int64, id: AccountEventID, kind: AuditEvent.Kind, time: Instant,
        account: AccountID, address: Address, quota: Int64? = nil
    ) {
        self.number = number
        self.id = id
        self.kind = kind
        self.time = time
        self.account = account
        self.address = address
        self.quota = quota
    }
}

extension AuditEvent.Kind {
    /// The events that are in the feed of account events as well.
    public static let ofAccounts: [AuditEvent.Kind] = [
        .accountCreated, .accountDisabled, .accountEnabled, .accountDeleted, .addressFreed,
        .quotaChanged,
    ]
}
