/// A Pro user with a token that opens everything they own.
public struct OpenUser: Sendable {
    public let user: User
    public let token: String
}

extension AccountsAuth {
    /// Makes a Pro user.
    /// - Parameter password: bytes as sent, at most 1,024.
    public func register(
        email text: String, password: [UInt8], by caller: Caller
    ) async throws -> OpenUser {
        guard settings.registrationIsOpen else { throw Refusal.registrationClosed }
        guard let email = Email(parsing: text) else { throw Refusal.invalidEmail }
        return try await limiter.reserving(.creation, for: caller) {
            try await openUser(
                try await addUser(email, password: password, by: caller, actor: "anonymous"),
                at: caller.now)
        }
    }

    /// Adds a user, for ``register(email:password:by:)`` and for the operator.
    public func addUser(
        _ email: Email, password: [UInt8], by caller: Caller, actor: String
    ) async throws -> User {
        try await UserRegistrar(users: stores.users, hasher: hasher, random: random).add(
            email, password: password,
            recording: AuditEvent(.userCreated, by: caller, actor: actor, subject: email.text))
    }

    /// - Throws: ``Refusal/invalidCredentials``, alike for an unknown email and a wrong password.
    public func loginUser(
        email text: String, password: [UInt8], by caller: Caller
    ) async throws -> OpenUser {
        guard let email = Email(parsing: text) else { throw Refusal.invalidCredentials }
        let found = try await stores.users.user(email: email)
        let user = found.flatMap { $0.state == .active ? $0 : nil }
        let newer = try await checkPassword(
            .bytes(password), of: .user(email), hash: user?.password, by: caller)
        guard let user else { throw Refusal.invalidCredentials }
        if let newer { _ = try await stores.users.rehash(user.id, from: user.password, to: newer) }
        try await stores.audit.append(
            AuditEvent(.loginSucceeded, by: caller, actor: "user:\(user.id)", subject: email.text))
        return try await openUser(user, at: caller.now)
    }

    /// Ends every Pro JWT of the user. API tokens stay.
    public func logout(_ user: User, by caller: Caller) async throws {
        let event = AuditEvent(
            .userLoggedOut, by: caller, actor: "user:\(user.id)", subject: user.email.text)
        // Somebody else's logout or password change that came first did the same.
        _ = try await stores.users.endSessions(
            of: user.id, at: user.credentialVersion, recording: event)
    }

    /// Replaces the user's password and ends every Pro JWT.
    public func changePassword(
        of user: User, from current: [UInt8], to password: [UInt8], by caller: Caller
    ) async throws {
        try UserRegistrar.checkLength(password)
        _ = try await checkPassword(
            .bytes(current), of: .user(user.email), hash: user.password, by: caller)
        let event = AuditEvent(
            .credentialReset, by: caller, actor: "user:\(user.id)", subject: user.email.text)
        let hash = try await hasher.hash(.bytes(password))
        let replaced = try await stores.users.replacePassword(
            of: user.id, at: user.credentialVersion, with: hash, recording: event)
        guard replaced else { throw Refusal.invalidToken }
    }

    /// How many accounts and domains the user has.
    public func holdings(of user: User) async throws -> (accounts: Int, domains: Int) {
        try await stores.holdings.holdings(of: user.id)
    }

    /// A page of the user's accounts.
    /// - Parameter cursor: where the page before ended; `nil` for the first.
    /// - Returns: the accounts and where the next page begins; no cursor at the end.
    public func accounts(
        of user: User, after cursor: AccountCursor?
    ) async throws -> (accounts: [Account], next: AccountCursor?) {
        // One more than a page tells whether there is another.
        let found = try await stores.holdings.accounts(
            of: user.id, after: cursor, limit: settings.pageSize + 1)
        let page = Array(found.prefix(settings.pageSize))
        guard found.count > page.count, let last = page.last else { return (page, nil) }
        return (page, AccountCursor(created: last.created, id: last.id))
    }

    private func openUser(_ user: User, at now: Instant) async throws -> OpenUser {
        let token = try await tokens.sign(
            ProToken(id: makeTokenID(), user: user), lifetime: settings.tokenLifetime, at: now)
        return OpenUser(user: user, token: token)
    }
}
