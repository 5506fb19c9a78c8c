/// Stores Pro users. Atomicity, events and errors as in ``AccountStore``.
public protocol UserStore: Sendable {
    /// Adds the user.
    /// - Returns: `false` when another user has the email.
    func insert(_ user: User, recording event: AuditEvent) async throws -> Bool

    func user(id: UserID) async throws -> User?
    func user(email: Email) async throws -> User?

    /// Replaces the password and raises the credential version by one, if it is still `version` and
    /// the user is active. Of concurrent calls with one version exactly one returns `true`.
    /// - Parameters:
    ///   - revokingTokens: whether the user's API tokens are revoked in the same transaction, at
    ///     the time of `event`, each with an event of its own.
    func replacePassword(
        of id: UserID, at version: Int64, with password: PasswordHash, revokingTokens: Bool,
        recording event: AuditEvent
    ) async throws -> Bool

    /// As ``AccountStore/rehash(_:from:to:)``.
    func rehash(_ id: UserID, from old: PasswordHash, to new: PasswordHash) async throws -> Bool

    /// Raises the credential version by one, if it is still `version`. Every earlier Pro JWT
    /// becomes invalid.
    /// - Returns: `false` when nothing was changed.
    func endSessions(of id: UserID, at version: Int64, recording event: AuditEvent) async throws
        -> Bool
}

/// The operator's access to Pro users. Atomicity and errors as in ``AccountStore``.
public protocol UserDirectory: Sendable {
    /// Changes the state. Disabling also raises the credential version.
    /// - Returns: `false` when there is no such user.
    func setState(of id: UserID, to state: User.State, recording event: AuditEvent) async throws
        -> Bool

    /// At most `limit` users in email order, after `email` or from the first when it is `nil`.
    func users(after email: Email?, limit: Int) async throws -> [User]
}

/// Reads what a Pro user owns. Errors as in ``AccountStore``.
public protocol HoldingStore: Sendable {
    /// At most `limit` of the user's accounts, ordered by creation and then by id, after `cursor`.
    /// While accounts are added and deleted, every account that remains is listed exactly once.
    func accounts(of owner: UserID, after cursor: AccountCursor?, limit: Int) async throws
        -> [Account]

    /// How many accounts and domains the user has.
    func holdings(of owner: UserID) async throws -> (accounts: Int, domains: Int)
}
