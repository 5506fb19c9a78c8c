public import Networking

/// Creates Pro users and replaces their passwords, for the accounts API and for the operator's
/// commands. It decides how a password is stored.
public struct UserRegistrar: UseCases {
    public typealias Failure = AccountsError

    private let users: any UserStore
    private let hasher: PasswordHasher
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: returns that many random bytes, fit for keys.
    public init(
        users: any UserStore, hasher: PasswordHasher, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.users = users
        self.hasher = hasher
        self.random = random
    }

    /// - Parameters:
    ///   - password: bytes as sent, at most 1,024.
    ///   - client: who asked for it; `nil` for the operator.
    ///   - event: written with the user; the user's creation time is the event's time.
    /// - Throws: ``AccountsError/passwordTooShort``, ``AccountsError/passwordTooCommon``,
    ///   ``AccountsError/emailTaken``.
    public func add(
        _ email: Email, password: [UInt8], for client: IPAddress?, recording event: AuditEvent
    ) async throws(AccountsError) -> User {
        try UserPassword.check(password, of: email)
        // Checked before the hash, which costs more than everything else; decided after it.
        guard try await attempt(await users.user(email: email)) == nil else { throw .emailTaken }
        let user = User(
            id: UserID(random: random(16)), email: email,
            password: try await attempt(await hasher.hash(.bytes(password), for: client)),
            created: event.time)
        guard try await attempt(await users.insert(user, recording: event)) else {
            throw .emailTaken
        }
        return user
    }

    /// Replaces the password and ends every Pro JWT; API tokens stay valid.
    /// - Returns: `false` when the user is disabled or has other credentials than when it was read.
    public func setPassword(
        of user: User, to password: [UInt8], for client: IPAddress?, recording event: AuditEvent
    ) async throws(AccountsError) -> Bool {
        try UserPassword.check(password, of: user.email)
        let hash = try await attempt(await hasher.hash(.bytes(password), for: client))
        return try await attempt(
            await users.replacePassword(
                of: user.id, at: user.credentialVersion, with: hash, revokingTokens: false,
                recording: event))
    }
}
