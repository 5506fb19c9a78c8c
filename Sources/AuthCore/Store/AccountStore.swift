/// Where accounts live. Every method is atomic, and what it acknowledged survives a crash.
///
/// What changes something takes the event that tells of it and writes it in the same transaction:
/// the event is there exactly when the change is.
///
/// Throws ``StoreBusy`` when the store is there but cannot answer in time, anything else when it
/// is broken. Neither is ever reported as an absence.
public protocol AccountStore: Sendable {
    /// Adds the account, unless its domain is gone, its owner has `limit` accounts already, or its
    /// address belongs to another or was retired by a deletion.
    /// Of any number of concurrent calls with one address exactly one is `.inserted`; an owner
    /// never gets past the limit however many race; and a domain that is removed meanwhile has
    /// either the account on it, and stays, or has not.
    /// - Parameter domain: the ``HostedDomain`` that the address is on; `nil` for a domain of the
    ///   configuration, which is always there.
    func insert(
        _ account: Account, on domain: DomainID?, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion

    func account(id: AccountID) async throws -> Account?
    func account(address: Address) async throws -> Account?
    func account(apiKey: APIKeyDigest) async throws -> Account?

    /// Replaces the credential and moves its version on by one, if the version still is `version`
    /// and the account is active. Of two racing calls with one version exactly one gives `true`.
    func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential,
        recording event: AuditEvent
    ) async throws -> Bool

    /// Puts a newer hash of the same password in place of `old`; no version moves and no token
    /// dies. `false` when the credential is not `old` any more.
    func rehash(_ id: AccountID, from old: PasswordHash, to new: PasswordHash) async throws -> Bool

    /// Deletes the account and retires its address until it is freed.
    /// - Parameter version: when given, only if the credential version still is this one.
    /// - Returns: `false` when nothing was deleted.
    func delete(_ id: AccountID, at version: Int64?, recording event: AuditEvent) async throws
        -> Bool
}

/// What became of a new account.
public enum AccountInsertion: Equatable, Sendable {
    case inserted
    case addressTaken
    case limitReached
    case domainGone
}

extension AccountStore {
    /// Adds an account on a domain of the configuration.
    public func insert(
        _ account: Account, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion {
        try await insert(account, on: nil, limit: limit, recording: event)
    }
}

/// The operator's view of accounts. Atomicity and errors as in ``AccountStore``.
public protocol AccountDirectory: Sendable {
    /// Accounts in address order, after `address` (from the first when `nil`), at most `limit`.
    func accounts(after address: Address?, limit: Int) async throws -> [Account]

    /// Disabling moves the credential version as well: enabling again revives no old token.
    /// - Returns: `false` when there is no such account.
    func setState(of id: AccountID, to state: Account.State, recording event: AuditEvent)
        async throws -> Bool

    /// Makes a retired address available again; `false` when it was not retired.
    func free(_ address: Address, recording event: AuditEvent) async throws -> Bool

    /// Notes what mail stores say that mailboxes hold, all of it or nothing. Of several reports on
    /// one address the last counts. No event tells of it: it is no matter of credentials.
    /// - Returns: for each report, whether there is such an account.
    func note(_ reports: [UsageReport]) async throws -> [Bool]
}

/// What a mail store says that a mailbox holds.
public struct UsageReport: Equatable, Sendable {
    public let address: Address
    /// Bytes, not below 0.
    public let used: Int64

    public init(address: Address, used: Int64) {
        self.address = address
        self.used = used
    }
}
