/// Where accounts live. Every method is atomic, and what it acknowledged survives a crash.
///
/// Throws ``StoreBusy`` when the store is there but cannot answer in time, anything else when it
/// is broken. Neither is ever reported as an absence.
public protocol AccountStore: Sendable {
    /// Adds the account, unless its address belongs to another or was retired by a deletion.
    /// Of any number of concurrent calls with one address exactly one gives `true`.
    func insert(_ account: Account) async throws -> Bool

    func account(id: AccountID) async throws -> Account?
    func account(address: Address) async throws -> Account?
    func account(apiKey: APIKeyDigest) async throws -> Account?

    /// Replaces the credential and moves its version on by one, if the version still is `version`
    /// and the account is active. Of two racing calls with one version exactly one gives `true`.
    func replaceCredential(of id: AccountID, at version: Int64, with credential: Credential)
        async throws -> Bool

    /// Disabling moves the credential version as well: enabling again revives no old token.
    /// - Returns: `false` when there is no such account.
    func setState(of id: AccountID, to state: Account.State) async throws -> Bool

    /// Deletes the account and retires its address until ``free(_:)``.
    /// - Parameter version: when given, only if the credential version still is this one.
    /// - Returns: `false` when nothing was deleted.
    func delete(_ id: AccountID, at version: Int64?) async throws -> Bool

    /// Makes a retired address available again; `false` when it was not retired.
    func free(_ address: Address) async throws -> Bool
}

/// A page of accounts, for the operator.
public protocol AccountDirectory: Sendable {
    /// Accounts in address order, after `address` (from the first when `nil`), at most `limit`.
    func accounts(after address: Address?, limit: Int) async throws -> [Account]
}

/// The store did not answer in time: its writer queue is full or its file is locked.
/// The caller is told to come back (503), never that something is absent.
public struct StoreBusy: Error, Sendable {
    public init() {}
}
