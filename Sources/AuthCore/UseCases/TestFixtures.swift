internal import Cryptography

/// The operations of a test suite, without credentials: make accounts, users and tokens without a
/// proof of work, set the clock, read the audit log, and remove everything again.
///
/// Its callers can act as every user, so the program makes one in the test profile only.
public struct TestFixtures: UseCases {
    public typealias Failure = AccountsError

    /// The largest number of accounts, users or tokens in one call.
    public static let maximumCount = 100

    private let agents: Agents
    private let mailboxes: Mailboxes
    private let users: Users
    private let apiTokens: APITokens
    private let stores: Stores
    public let clock: AdjustableClock
    private let random: @Sendable (Int) -> [UInt8]
    private let runDueTasks: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - clock: the source of the server's clocks.
    ///   - random: returns that many random bytes, fit for keys.
    ///   - runDueTasks: runs the periodic tasks that are due by the present time.
    public init(
        agents: Agents, mailboxes: Mailboxes, users: Users, apiTokens: APITokens, stores: Stores,
        clock: AdjustableClock, random: @escaping @Sendable (Int) -> [UInt8],
        runDueTasks: @escaping @Sendable () async throws -> Void
    ) {
        self.agents = agents
        self.mailboxes = mailboxes
        self.users = users
        self.apiTokens = apiTokens
        self.stores = stores
        self.clock = clock
        self.random = random
        self.runDueTasks = runDueTasks
    }

    // MARK: Accounts and users

    /// A mailbox to make.
    public struct NewAccount: Sendable {
        /// The credential that opens it. A password is generated if there is none.
        public enum Login: Sendable {
            case apiKey
            case password([UInt8]?)
        }

        /// As it was sent; an address on the agents' domain is generated if there is none.
        public let address: String?
        public let login: Login
        /// The email of the user who owns it; `nil` for a free account.
        public let owner: String?

        public init(address: String?, login: Login, owner: String?) {
            self.address = address
            self.login = login
            self.owner = owner
        }
    }

    /// A mailbox and what a client needs to use it.
    public struct MadeAccount: Sendable {
        public let account: Account
        public let secret: Secret
        /// A session JWT for an agent, otherwise an Email JWT.
        public let token: String
        public let expiry: Instant
    }

    public enum Secret: Sendable {
        case apiKey(APIKey)
        case password(String)
    }

    /// Makes a mailbox. Reserved names are allowed, as for the operator.
    /// - Throws: ``AccountsError/invalidAddress``, ``AccountsError/invalidDomain``,
    ///   ``AccountsError/addressTaken``, ``AccountsError/passwordTooShort``, or
    ///   ``AccountsError/notFound`` when no user has the email of `owner`.
    public func make(
        _ new: NewAccount, by caller: Caller
    ) async throws(AccountsError) -> MadeAccount {
        let text = new.address ?? "test-\(Hex.encode(random(6)))@\(agents.policy.agentDomain)"
        guard let address = Address(parsing: text) else { throw .invalidAddress }
        let owner: User? =
            if let email = new.owner { try await user(email) } else { nil }
        let domain = try await mailboxes.registrar.domain(of: address, for: owner)
        switch new.login {
        case .apiKey:
            guard address.domain == agents.policy.agentDomain else { throw .invalidDomain }
            guard let made = try await attempt(await agents.insert(address, by: caller)) else {
                throw .addressTaken
            }
            return try await opened(made.account, .apiKey(made.apiKey), for: caller)
        case .password(let sent):
            let password = sent ?? makePassword()
            let account = try await mailboxes.registrar.add(
                address, on: domain, secret: .password(password), owner: owner, limit: nil,
                allowsReserved: true, for: caller.address
            ) { id in
                AuditEvent(
                    .accountCreated, by: caller, actor: owner.map { .user($0.id) } ?? .account(id),
                    subject: address.description)
            }
            return try await opened(
                account, .password(String(decoding: password, as: UTF8.self)), for: caller)
        }
    }

    private func opened(
        _ account: Account, _ secret: Secret, for caller: Caller
    ) async throws(AccountsError) -> MadeAccount {
        let token = try await token(for: account, to: caller)
        return MadeAccount(
            account: account, secret: secret, token: token.text, expiry: token.expiry)
    }

    /// A user and what a client needs to act as them.
    public struct MadeUser: Sendable {
        public let user: User
        public let password: String
        /// A Pro JWT.
        public let token: String
        public let expiry: Instant
    }

    /// Makes a Pro user, whether or not registration is open. Missing values are generated.
    /// - Parameter password: bytes as sent, at most 1,024.
    /// - Throws: ``AccountsError/invalidEmail``, ``AccountsError/emailTaken``,
    ///   ``AccountsError/passwordTooShort``, ``AccountsError/passwordTooCommon``.
    public func makeUser(
        email text: String?, password: [UInt8]?, by caller: Caller
    ) async throws(AccountsError) -> MadeUser {
        let text = text ?? "test-\(Hex.encode(random(6)))@example.com"
        guard let email = Email(parsing: text) else { throw .invalidEmail }
        let password = password ?? makePassword()
        let user = try await users.registrar.add(
            email, password: password, for: caller.address,
            recording: AuditEvent(
                .userCreated, by: caller, actor: .anonymous, subject: email.text))
        let token = try await token(for: user, to: caller)
        return MadeUser(
            user: user, password: String(decoding: password, as: UTF8.self), token: token.text,
            expiry: token.expiry)
    }

    private func makePassword() -> [UInt8] { Array(Base64URL.encode(random(12)).utf8) }

    // MARK: Tokens

    /// A token to make for an account or a user that exists.
    public enum NewToken: Sendable {
        /// A session JWT for an agent, otherwise an Email JWT.
        case account(address: String)
        case capability(address: String)
        /// A Pro JWT.
        case user(email: String)
        /// - Parameters: as ``APITokens/create(named:lifetime:scopes:from:for:by:)``.
        case apiToken(
            email: String, name: String, lifetime: Duration?, scopes: Set<APIToken.Scope>?)
    }

    public struct MadeToken: Sendable {
        public let text: String
        /// `nil` for an API token that does not expire.
        public let expiry: Instant?
        /// The id of an API token.
        public let id: APITokenID?
    }

    /// - Throws: ``AccountsError/notFound`` when there is no such account or user,
    ///   ``AccountsError/tokenLimitReached``, ``AccountsError/forbidden`` when the mail store could
    ///   take the account for another one.
    public func make(
        _ new: NewToken, by caller: Caller
    ) async throws(AccountsError) -> MadeToken {
        switch new {
        case .account(let address):
            let token = try await token(for: account(address), to: caller)
            return MadeToken(text: token.text, expiry: token.expiry, id: nil)
        case .capability(let address):
            let account = try await account(address)
            guard
                let text = try await attempt(
                    await agents.capabilities.sign(for: account, to: caller))
            else { throw .forbidden }
            return MadeToken(
                text: text, expiry: caller.now.advanced(by: agents.settings.capabilityLifetime),
                id: nil)
        case .user(let email):
            let token = try await token(for: user(email), to: caller)
            return MadeToken(text: token.text, expiry: token.expiry, id: nil)
        case .apiToken(let email, let name, let lifetime, let scopes):
            let issued = try await apiTokens.create(
                named: name, lifetime: lifetime, scopes: scopes, for: user(email), by: caller)
            return MadeToken(
                text: issued.secret, expiry: issued.token.expiry, id: issued.token.id)
        }
    }

    private func token(
        for account: Account, to caller: Caller
    ) async throws(AccountsError) -> (text: String, expiry: Instant) {
        switch account.credential {
        case .apiKey:
            (
                try await attempt(await agents.openSession(on: account, for: caller)).token,
                caller.now.advanced(by: agents.settings.sessionLifetime)
            )
        case .password:
            (
                try await mailboxes.open(account, for: caller).token,
                caller.now.advanced(by: mailboxes.settings.tokenLifetime)
            )
        }
    }

    private func token(
        for user: User, to caller: Caller
    ) async throws(AccountsError) -> (text: String, expiry: Instant) {
        (
            try await users.sessions.open(user, by: .registration, agent: nil, for: caller).token,
            caller.now.advanced(by: users.sessions.lifetime)
        )
    }

    private func account(_ text: String) async throws(AccountsError) -> Account {
        guard let address = Address(parsing: text),
            let account = try await attempt(await stores.accounts.account(address: address))
        else { throw .notFound }
        return account
    }

    private func user(_ text: String) async throws(AccountsError) -> User {
        guard let email = Email(parsing: text),
            let user = try await attempt(await stores.users.user(email: email))
        else { throw .notFound }
        return user
    }

    // MARK: Time, events, and an empty server

    /// The server's time.
    public var now: Instant { clock.now }

    /// Sets the server's time. After a step forward the tasks that have become due are run.
    /// - Parameter time: one of ``AdjustableClock/times``.
    public func set(to time: Instant) async throws(AccountsError) {
        if clock.set(to: time) { try await attempt(await runDueTasks()) }
    }

    /// At most `limit` audit events after a number, oldest first; 0 is before the first.
    public func events(
        after sequence: Int64, limit: Int
    ) async throws(AccountsError) -> [AuditRecord] {
        try await attempt(await stores.audit.events(after: sequence, limit: limit))
    }

    /// Removes everything except the signing keys, sets the clock to the system's time, and clears
    /// all limits.
    public func reset() async throws(AccountsError) {
        try await attempt(await stores.resettable.removeEverything())
        clock.reset()
    }
}
