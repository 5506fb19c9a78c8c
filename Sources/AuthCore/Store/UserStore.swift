/// Where Pro users live. Atomicity, events and errors as in ``AccountStore``.
public protocol UserStore: Sendable {
    /// Adds the user; `false` when the email is taken.
    func insert(_ user: User, recording event: AuditEvent) async throws -> Bool

    func user(id: UserID) async throws -> User?
    func user(email: Email) async throws -> User?

    /// Replaces the password and moves the credential version on by one, if it still is `version`
    /// and the user is active. Of two racing calls with one version exactly one gives `true`.
    func replacePassword(
        of id: UserID, at version: Int64, with password: PasswordHash, recording event: AuditEvent
    ) async throws -> Bool

    /// As ``AccountStore/rehash(_:from:to:)``.
    func rehash(_ id: UserID, from old: PasswordHash, to new: PasswordHash) async throws -> Bool

    /// Moves the credential version on by one, if it still is `version`: a logout.
    func endSessions(of id: UserID, at version: Int64, recording event: AuditEvent) async throws
        -> Bool
}

/// The operator's view of Pro users. Atomicity and errors as in ``AccountStore``.
public protocol UserDirectory: Sendable {
    /// Disabling moves the credential version as well. `false` when there is no such user.
    func setState(of id: UserID, to state: User.State, recording event: AuditEvent) async throws
        -> Bool

    /// Users in email order, after `email` (from the first when `nil`), at most `limit`.
    func users(after email: Email?, limit: Int) async throws -> [User]
}

/// What belongs to a Pro user. Errors as in ``AccountStore``.
public protocol HoldingStore: Sendable {
    /// The user's accounts in order of creation (then id), after `cursor`, at most `limit`. Stable
    /// while accounts are added and deleted: nobody who stays is skipped or told twice.
    func accounts(of owner: UserID, after cursor: AccountCursor?, limit: Int) async throws
        -> [Account]

    /// How many accounts and domains the user has.
    func holdings(of owner: UserID) async throws -> (accounts: Int, domains: Int)
}
