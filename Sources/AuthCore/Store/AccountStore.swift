/// Stores accounts. Every method is atomic, and a change that it has acknowledged survives a crash.
///
/// A method that changes something takes the audit event of the change and writes both in one
/// transaction. The event is written exactly when the change is made, and so is the event of the
/// ``AccountFeed`` where the change has one.
///
/// Methods throw ``StoreBusy`` when the store cannot answer in time, and another error when it is
/// broken. A failure is never reported as `nil` or `false`.
public protocol AccountStore: Sendable {
    /// Adds the account, unless its domain is not verified any more, its owner has used up `limit`,
    /// or its address belongs to another account or was retired by a deletion.
    ///
    /// Concurrent calls: of those with one address, exactly one returns `.inserted`. An owner never
    /// exceeds the limit. When the domain is removed at the same time, either the account is
    /// inserted and the domain stays, or the domain is removed and the account is not inserted.
    /// - Parameters:
    ///   - domain: the ``HostedDomain`` of the address; `nil` for a configured domain, which cannot
    ///     be removed.
    ///   - limit: how many accounts the owner may have. Together with those deleted within
    ///     ``Account/retirementPeriod`` before the event, the owner may have twice as many.
    func insert(
        _ account: Account, on domain: DomainID?, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion

    /// Why an account cannot be created now: the owner's `limit`, or else the address. It is looked
    /// up before a costly hash; ``insert(_:on:limit:recording:)`` decides.
    func obstacle(
        to address: Address, of owner: UserID?, limit: Int?
    ) async throws -> AccountObstacle?

    func account(id: AccountID) async throws -> Account?

    /// The account of a token, or `nil` when ``ChallengeLedger/end(_:expiry:recording:)`` has
    /// ended the token with this `jti`. One query, because every request with such a token needs
    /// it.
    func account(id: AccountID, unlessEnded tokenID: String) async throws -> Account?
    func account(address: Address) async throws -> Account?
    func account(apiKey: APIKeyDigest) async throws -> Account?

    /// Replaces the credential and raises its version by one, if the version is still `version` and
    /// the account is active. Of concurrent calls with one version exactly one returns `true`.
    func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential,
        recording event: AuditEvent
    ) async throws -> Bool

    /// Replaces the hash `old` by a new hash of the same password. The credential version does not
    /// change, so all tokens stay valid.
    /// - Returns: `false` when the credential is no longer `old`.
    func rehash(_ id: AccountID, from old: PasswordHash, to new: PasswordHash) async throws -> Bool

    /// Deletes the account and retires its address until ``AccountDirectory/free(_:recording:)``.
    /// - Parameter version: when given, the account is deleted only if its credential version is
    ///   this one.
    /// - Returns: `false` when nothing was deleted.
    func delete(_ id: AccountID, at version: Int64?, recording event: AuditEvent) async throws
        -> Bool
}

/// The result of inserting an account.
public enum AccountInsertion: Equatable, Sendable {
    case inserted
    case addressTaken
    case limitReached
    /// The domain was removed meanwhile, or is no longer verified.
    case domainGone
}

/// A reason not to make an account, known before it is inserted.
public enum AccountObstacle: Equatable, Sendable {
    case addressTaken
    case limitReached
}

extension AccountStore {
    /// Adds an account on a configured domain.
    public func insert(
        _ account: Account, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion {
        try await insert(account, on: nil, limit: limit, recording: event)
    }
}

/// The operator's access to accounts. Atomicity and errors as in ``AccountStore``.
public protocol AccountDirectory: Sendable {
    /// At most `limit` accounts in address order, after `address` or from the first when it is
    /// `nil`.
    func accounts(after address: Address?, limit: Int) async throws -> [Account]

    /// Changes the state. Disabling also raises the credential version, so that earlier tokens stay
    /// invalid when the account is enabled again.
    /// - Returns: `false` when there is no such account.
    func setState(of id: AccountID, to state: Account.State, recording event: AuditEvent)
        async throws -> Bool

    /// Changes how much mail the mailbox may hold.
    /// - Parameter quota: in bytes, at least 0.
    /// - Returns: `false` when there is no such account.
    func setQuota(of id: AccountID, to quota: Int64, recording event: AuditEvent) async throws
        -> Bool

    /// Makes a retired address available again.
    /// - Returns: `false` when it was not retired.
    func free(_ address: Address, recording event: AuditEvent) async throws -> Bool

    /// A domain other than `domain` on which an agent has an account; `nil` when there is none.
    func agentDomain(otherThan domain: Domain) async throws -> Domain?

    /// Stores the usage that mail stores report: all reports or none. Of several reports on one
    /// address the last counts. No event is written, because no credential changes.
    /// - Returns: for each report, whether there is such an account.
    func note(_ reports: [UsageReport]) async throws -> [Bool]
}

/// How much mail is in a mailbox, as the mail store reports it.
public struct UsageReport: Equatable, Sendable {
    public let address: Address
    /// Bytes, at least 0.
    public let used: Int64

    public init(address: Address, used: Int64) {
        self.address = address
        self.used = used
    }
}
