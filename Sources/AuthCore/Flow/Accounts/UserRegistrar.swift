/// Makes Pro users and gives them passwords, for the API's use cases and for the operator's
/// commands: what a stored password is made of is decided here for both.
public struct UserRegistrar: Sendable {
    private let users: any UserStore
    private let hasher: PasswordHasher
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: gives so many random bytes, fit for keys.
    public init(
        users: any UserStore, hasher: PasswordHasher, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.users = users
        self.hasher = hasher
        self.random = random
    }

    /// - Parameters:
    ///   - password: bytes as sent, at most 1,024.
    ///   - event: written with the user; its time is when the user was made.
    /// - Throws: ``Refusal/passwordTooShort``, ``Refusal/emailTaken``.
    public func add(
        _ email: Email, password: [UInt8], recording event: AuditEvent
    ) async throws -> User {
        try Self.checkLength(password)
        // Looked at before the hash, which costs more than everything else, and decided after it.
        guard try await users.user(email: email) == nil else { throw Refusal.emailTaken }
        let user = User(
            id: UserID(random: random(16)), email: email,
            password: try await hasher.hash(.bytes(password)), created: event.time)
        guard try await users.insert(user, recording: event) else { throw Refusal.emailTaken }
        return user
    }

    /// Replaces the password and ends every Pro JWT; API tokens stay.
    /// - Returns: `false` when the user is disabled or has got other credentials since it was read.
    public func setPassword(
        of user: User, to password: [UInt8], recording event: AuditEvent
    ) async throws -> Bool {
        try Self.checkLength(password)
        return try await users.replacePassword(
            of: user.id, at: user.credentialVersion, with: hasher.hash(.bytes(password)),
            recording: event)
    }

    static func checkLength(_ password: [UInt8]) throws(Refusal) {
        guard password.count >= MailboxSecret.passwordOctets.lowerBound else {
            throw .passwordTooShort
        }
    }
}
