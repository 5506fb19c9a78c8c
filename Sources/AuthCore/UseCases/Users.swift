/// Pro users: register, log in, log out, change the password, show.
public struct Users: UseCases {
    public typealias Failure = AccountsError

    let settings: AccountsSettings
    private let policy: AddressPolicy
    let sessions: UserSessions
    private let links: EmailLinks
    let notices: UserNotices
    private let users: any UserStore
    private let holdings: any HoldingStore
    private let domains: any DomainStore
    let registrar: UserRegistrar
    private let hasher: PasswordHasher
    private let passwords: PasswordLogin
    private let limiter: RateLimiter
    private let creationInterval: CreationInterval

    /// - Parameter random: returns that many random bytes, fit for keys.
    public init(
        settings: AccountsSettings, policy: AddressPolicy, sessions: UserSessions,
        links: EmailLinks, notices: UserNotices, stores: Stores,
        hasher: PasswordHasher, limiter: RateLimiter, throttle: LoginThrottle,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.settings = settings
        self.policy = policy
        self.sessions = sessions
        self.links = links
        self.notices = notices
        users = stores.users
        holdings = stores.holdings
        domains = stores.domains
        registrar = UserRegistrar(users: stores.users, hasher: hasher, random: random)
        self.hasher = hasher
        passwords = PasswordLogin(hasher: hasher, throttle: throttle, audit: stores.audit)
        self.limiter = limiter
        creationInterval = CreationInterval(limiter, ledger: stores.challenges)
    }

    /// Creates a user, if the operator has opened registration.
    ///
    /// The response shows whether an email is taken. An attempt therefore costs a token of the
    /// creation bucket, also when it fails.
    /// - Parameters:
    ///   - password: bytes as sent, at most 1,024.
    ///   - agent: the request's `User-Agent` field, if it has one.
    public func register(
        email text: String, password: [UInt8], agent: String? = nil, by caller: Caller
    ) async throws(AccountsError) -> UserSessions.Opened {
        guard settings.registrationIsOpen else { throw .registrationClosed }
        try await takeCreation(for: caller)
        guard let email = Email(parsing: text), try await !isReserved(email) else {
            throw .invalidEmail
        }
        let event = AuditEvent(.userCreated, by: caller, actor: .anonymous, subject: email.text)
        let user = try await registrar.add(
            email, password: password, for: caller.address, recording: event)
        await sendVerification(to: user, by: caller)
        return try await sessions.open(user, by: .registration, agent: agent, for: caller)
    }

    /// What a new user without a password must pass: the same as a registration.
    /// - Parameter isOpen: whether registration is open to this user though it is not to everybody.
    /// - Throws: ``AccountsError/registrationClosed``, ``AccountsError/invalidEmail``.
    func beginRegistration(
        of email: Email, isOpen: Bool, by caller: Caller
    ) async throws(AccountsError) {
        guard settings.registrationIsOpen || isOpen else { throw .registrationClosed }
        guard try await !isReserved(email) else { throw .invalidEmail }
        try await takeCreation(for: caller)
    }

    private func takeCreation(for caller: Caller) async throws(AccountsError) {
        _ = try attemptNow(try limiter.take(.creation, for: caller.address, at: caller.arrival))
        try await attempt(await creationInterval.begin(for: caller))
    }

    /// Sends the link that verifies the email, where this server sends mail. The user has been
    /// added: without the link the user asks for another one.
    private func sendVerification(to user: User, by caller: Caller) async {
        guard links.areSent else { return }
        try? await links.requestVerification(of: user, by: caller)
    }

    /// Whether only the operator may assign the email here: a user with it could impersonate the
    /// operator.
    private func isReserved(_ email: Email) async throws(AccountsError) -> Bool {
        guard policy.isReserved(email.localPart) else { return false }
        if policy.domains.contains(email.domain) { return true }
        let domain = try await attempt(await domains.domain(named: email.domain))
        return domain.map { $0.owner == nil } ?? false
    }

    /// - Parameter agent: the request's `User-Agent` field, if it has one.
    /// - Throws: ``AccountsError/invalidCredentials``, the same for an unknown email, a wrong
    ///   password and a user without a password.
    public func logIn(
        email text: String, password: [UInt8], agent: String? = nil, by caller: Caller
    ) async throws(AccountsError) -> UserSessions.Opened {
        guard let email = Email(parsing: text) else { throw .invalidCredentials }
        let found = try await attempt(await users.user(email: email))
        let user = found.flatMap { $0.state == .active ? $0 : nil }
        let newer = try await passwords.check(
            .bytes(password), of: .user(email), against: user?.password, by: caller)
        guard let user else { throw .invalidCredentials }
        if let newer, let old = user.password {
            _ = try await attempt(await users.rehash(user.id, from: old, to: newer))
        }
        return try await sessions.open(user, by: .password, agent: agent, for: caller)
    }

    /// Ends every Pro JWT of the user. API tokens stay valid.
    public func logOut(_ user: User, by caller: Caller) async throws(AccountsError) {
        let event = AuditEvent(
            .userLoggedOut, by: caller, actor: .user(user.id), subject: user.email.text)
        // `false`: another logout or password change came first and has done the same.
        _ = try await attempt(
            await users.endSessions(of: user.id, at: user.credentialVersion, recording: event))
    }

    /// The proof that it is the user who changes the password.
    public enum PasswordProof: Sendable {
        /// The present password.
        case password([UInt8])
        /// For a user without a password: the session of the request, if it has one.
        case session(UserSession?)
    }

    /// Replaces the user's password and ends every Pro JWT.
    /// - Parameter revokesAPITokens: whether every API token ends, too.
    /// - Throws: ``AccountsError/recentLoginRequired`` for a user without a password whose login is
    ///   not recent, or whose request came with an API token.
    public func changePassword(
        of user: User, by proof: PasswordProof, to password: [UInt8],
        revokesAPITokens: Bool = false, by caller: Caller
    ) async throws(AccountsError) {
        try UserPassword.check(password, of: user.email)
        switch proof {
        case .password(let current):
            _ = try await passwords.check(
                .bytes(current), of: .user(user.email), against: user.password, by: caller)
        case .session(let session):
            guard user.password == nil, let session else { throw .recentLoginRequired }
            try session.requireRecentLogin(at: caller.now)
        }
        let event = AuditEvent(
            .credentialReset, by: caller, actor: .user(user.id), subject: user.email.text)
        let hash = try await attempt(await hasher.hash(.bytes(password), for: caller.address))
        let isReplaced = try await attempt(
            await users.replacePassword(
                of: user.id, at: user.credentialVersion, with: hash,
                revokingTokens: revokesAPITokens, recording: event))
        guard isReplaced else { throw .invalidToken }
        notices.notify(user, of: .passwordChanged, by: caller)
    }

    /// How many accounts and domains a user has, and may have.
    public struct Holdings: Sendable {
        public let accounts: Int
        public let domains: Int
        public let maximumAccounts: Int
        public let maximumDomains: Int
    }

    public func holdings(of user: User) async throws(AccountsError) -> Holdings {
        let held = try await attempt(await holdings.holdings(of: user.id))
        return Holdings(
            accounts: held.accounts, domains: held.domains,
            maximumAccounts: settings.maximumAccounts, maximumDomains: settings.maximumDomains)
    }
}
