public import AuthCore
internal import AuthStorage
public import Cryptography
public import Networking
public import Scheduling
internal import Synchronization
public import TestPrimitives
public import WebAuthn

/// Everything that a test of the use cases needs, of its own for each test: a database in memory, a
/// clock that moves when told, random bytes from a seed, and a proof of work that takes
/// microseconds.
public final class AgentWorld: Sendable {
    public static let scrypt = testScrypt
    public static let salt = "0b980734412c292d6549110276b604ab1dea4883bd460d77d1b984adf8bca083"
    public static let issuer = "https://auth.mail.test"
    public static let site = RelyingParty(id: "auth.mail.test", origin: issuer)
    public static let loginIssuer = "https://login.mail.test"
    public static let client = IPAddress(v4: 0xc000_0207)

    /// A request from that client, now.
    public var caller: Caller {
        Caller(
            address: Self.client, requestID: "test-1", now: clock.now, arrival: clock.monotonic)
    }

    public let stores: Stores
    public let clock = TestClock()
    public let keys: KeyRing
    public let tokens: TokenAuthority
    public let agents: Agents
    public let accountsSettings: AccountsSettings
    public let mailboxes: Mailboxes
    public let users: Users
    public let userSessions: UserSessions
    public let passkeys: Passkeys
    public let secondFactors: SecondFactors
    public let providerLogins: ProviderLogins
    /// The provider `id`, of everybody's emails, the provider `work`, of those at `work.test` only,
    /// and `github`, all in memory.
    public let provider: SoftProvider
    public let emailLinks: EmailLinks
    /// The mail to users.
    public let mailer = RecordingMailer()
    public let apiTokens: APITokens
    public let domains: Domains
    public let webhookResults = Counters<WebhookEventResult>()
    public let webhookEvents: WebhookEvents
    public let webhooks: Webhooks
    public let authenticator: Authenticator
    public let hashLogins: HashLogins
    public let mailServices: MailServices
    public let resolver = TestResolver()
    public let host = TestHost()
    public let stopwatch: TestStopwatch
    /// What hash logins and identity providers reported.
    public let faults = Record<String>()
    public let random: SeededBytes
    public let limiter: RateLimiter
    private let registrar: UserRegistrar

    /// - Parameters:
    ///   - stores: a new database in memory unless given.
    ///   - hashing: where scrypt and Argon2 run.
    ///   - accounts: replaces that store, for tests in which it fails.
    ///   - challenges: replaces the store of spent challenges, for the same.
    ///   - limits: whether requests are limited.
    ///   - rates: replace the documented rates of their classes.
    ///   - wrongProofAllowance: wrong proofs that a client may send in a minute. Proofs that are
    ///     being checked count as wrong until then. `nil` for any number.
    ///   - sendsMail: whether users get mail.
    ///   - registrationIsOpen: whether anybody may become a Pro user.
    ///   - passwords: the cost of a stored password; next to nothing unless given.
    ///   - bounds: the greatest cost of a served hash.
    ///   - adjust: changes the settings of the agent API.
    public init(
        difficulty: Int = 2, stores: Stores? = nil, hashing: WorkerPool = .forTests(),
        accounts: (any AccountStore)? = nil, challenges: (any ChallengeLedger)? = nil,
        capabilityKeyID: Bool = true, capabilityAlgorithm: SignatureAlgorithm = .rs256,
        mailSubject: MailSubject = .address, limits: Bool = false,
        wrongProofAllowance: Int? = 10,
        rates: [RateLimiter.Class: RateLimiter.Rate] = [:], sendsMail: Bool = true,
        registrationIsOpen: Bool = false,
        passwords: PasswordHasher.Settings = .init(memoryKiB: 8, iterations: 1, parallelism: 1),
        bounds: Argon2Hash.Bounds = .served,
        agentSettings adjust: (inout Agents.Settings) -> Void = { _ in }
    ) throws {
        let limiter = RateLimiter(settings: .init(isEnabled: limits, rates: rates))
        self.limiter = limiter
        // A second world on the same stores must not repeat the ids of the first one.
        random = SeededBytes(seed: stores == nil ? 1 : 2)
        var stores = try stores ?? Database.openInMemory()
        if let accounts { stores.accounts = accounts }
        if let challenges { stores.challenges = challenges }
        self.stores = stores
        let random = self.random
        let clock = self.clock
        keys = try KeyRing(
            store: stores.signingKeys,
            sealer: KeySealer(masterSecret: Self.masterSecret, random: random.make),
            capabilityAlgorithm: capabilityAlgorithm, pool: .forTests(), random: random.make,
            keyPair: TestKeyPairs().next, clock: { clock.now })
        tokens = TokenAuthority(
            realm: Realm(
                issuer: Self.issuer, loginIssuer: Self.loginIssuer,
                capabilityAudience: "api-service",
                capabilityKeyID: capabilityKeyID),
            keys: keys, signers: .forTests())
        var agentSettings = Agents.Settings(
            salt: Self.salt, scrypt: Self.scrypt, challengeLifetime: .seconds(180),
            sessionLifetime: .seconds(3600), capabilityLifetime: .seconds(120),
            mailSubject: mailSubject, quota: 41_943_040)
        adjust(&agentSettings)
        agents = Agents(
            settings: agentSettings, policy: Self.policy,
            governor: DifficultyGovernor(settings: .init(base: difficulty, maximum: difficulty)),
            wrongProofs: wrongProofAllowance.map { WrongProofLimiter(allowance: $0) },
            tokens: tokens,
            accounts: stores.accounts,
            challenges: stores.challenges, audit: stores.audit, limiter: limiter,
            hashing: hashing, random: random.make)
        let settings = AccountsSettings(
            difficulty: 4, pageSize: 3, registrationIsOpen: registrationIsOpen,
            maximumAccounts: 7, maximumDomains: 2, mailExchanger: Self.policy.agentDomain)
        accountsSettings = settings
        let hasher = PasswordHasher(settings: passwords, pool: hashing, random: random.make)
        let throttle = LoginThrottle(audit: stores.audit, random: random.make)
        mailboxes = Mailboxes(
            settings: settings, policy: Self.policy, tokens: tokens, stores: stores,
            hasher: hasher, limiter: limiter, throttle: throttle, random: random.make)
        userSessions = UserSessions(
            tokens: tokens, stores: stores, lifetime: settings.tokenLifetime, random: random.make)
        let mailer = sendsMail ? self.mailer : nil
        let notices = UserNotices(mailer: mailer, stores: stores, limiter: limiter)
        emailLinks = EmailLinks(
            mailer: mailer, stores: stores, hasher: hasher, notices: notices, limiter: limiter,
            random: random.make)
        passkeys = Passkeys(
            site: Self.site, tokens: tokens, stores: stores, sessions: userSessions,
            notices: notices, throttle: throttle, random: random.make)
        secondFactors = SecondFactors(
            tokens: tokens, stores: stores, sessions: userSessions, passkeys: passkeys,
            notices: notices, throttle: throttle, keys: keys, random: random.make)
        users = Users(
            settings: settings, policy: Self.policy, sessions: userSessions, links: emailLinks,
            notices: notices, stores: stores, hasher: hasher, limiter: limiter, throttle: throttle,
            random: random.make)
        provider = try SoftProvider { clock.now.seconds }
        providerLogins = ProviderLogins(
            providers: LoginProvider.forTests(provider), tokens: tokens, stores: stores,
            users: users, sessions: userSessions, throttle: throttle,
            report: { [faults] in faults.add("\($0): \($1)") }, random: random.make)
        apiTokens = APITokens(tokens: stores.apiTokens, random: random.make)
        domains = Domains(
            settings: settings, policy: Self.policy, domains: stores.domains, resolver: resolver,
            random: random.make)
        webhookEvents = WebhookEvents(
            stores: stores, results: webhookResults, random: random.make)
        webhooks = Webhooks(
            webhooks: stores.webhooks, events: webhookEvents, keys: keys,
            checkURL: { $0.hasPrefix("https://") ? $0 : nil }, random: random.make)
        authenticator = Authenticator(tokens: tokens, stores: stores)
        registrar = UserRegistrar(users: stores.users, hasher: hasher, random: random.make)
        mailServices = MailServices(
            agents: agents, tokens: tokens, stores: stores, hasher: hasher, throttle: throttle)
        stopwatch = TestStopwatch(clock: clock)
        hashLogins = HashLogins(
            settings: HashLogins.Settings(bounds: bounds), policy: Self.policy, tokens: tokens,
            keys: keys, stores: stores, fetcher: host, hashing: hashing,
            throttle: throttle, stopwatch: stopwatch,
            report: { [faults] in faults.add("\($0)") })
    }

    public static let masterSecret = [UInt8](repeating: 7, count: 32)

    public static var policy: AddressPolicy {
        guard let domain = Domain(parsing: "mail.test") else { preconditionFailure() }
        return AddressPolicy(domains: [domain])
    }

    /// A Pro user with a password, added by the operator.
    public func addUser(_ email: String, password: String = "propassword") async throws -> User {
        guard let email = Email(parsing: email) else { throw Unsolved() }
        return try await registrar.add(
            email, password: Array(password.utf8), for: nil,
            recording: AuditEvent(
                .userCreated, by: caller, actor: .operator, subject: email.text))
    }

    /// Finds a proof for `challenge` the way a client does.
    public static func solve(_ challenge: AccountsChallengeToken) throws -> Proof {
        let puzzle = Puzzle.sha256(salt: challenge.salt)
        for number in Int64(0)..<1_000_000 {
            let digest = try puzzle.digest(challenge: challenge.id, nonce: Nonce(number))
            if leadingZeroBits(digest) >= challenge.difficulty {
                return Proof(nonce: Nonce(number))
            }
        }
        throw Unsolved()
    }

    /// Finds a proof for `challenge` the way a client does.
    public static func solve(
        _ challenge: AgentChallengeToken, from start: Int64 = 0
    ) throws -> Proof {
        let puzzle = Puzzle.scrypt(parameters: scrypt, salt: challenge.salt)
        for number in start..<(start + 100_000) {
            let nonce = Nonce(number)
            let digest = try puzzle.digest(challenge: challenge.id, nonce: nonce)
            if leadingZeroBits(digest) >= challenge.difficulty {
                return Proof(nonce: nonce, digest: digest)
            }
        }
        throw Unsolved()
    }

    public struct Unsolved: Error {
        public init() {}
    }
}

extension WorkerPool {
    /// Without shares: most tests have one client.
    public static func forTests() -> WorkerPool {
        WorkerPool(name: "test", lanes: 2, depth: 64, shares: .unlimited)
    }
}

/// scrypt that takes microseconds.
private let testScrypt: Scrypt.Parameters = {
    do {
        return try Scrypt.Parameters(n: 2, r: 1, p: 1, outputBytes: 64)
    } catch {
        preconditionFailure("the test's own parameters are out of bounds")
    }
}()

/// Clocks that a test moves.
public final class TestClock: Sendable {
    private let state = Mutex(
        (wall: Instant(seconds: 1_800_000_000), monotonic: ContinuousClock.now))

    public init() {}

    public var now: Instant { state.withLock { $0.wall } }

    /// The same moment on the monotonic clock.
    public var monotonic: ContinuousClock.Instant { state.withLock { $0.monotonic } }

    /// Both, for a server.
    public var clocks: ServerClock {
        ServerClock(now: { self.now }, monotonic: { self.monotonic })
    }

    public func advance(by duration: Duration) {
        state.withLock {
            $0 = ($0.wall.advanced(by: duration), $0.monotonic.advanced(by: duration))
        }
    }

    /// Sets the wall clock back, as an administrator or a time server may do.
    public func stepBack(by duration: Duration) {
        state.withLock { $0.wall = $0.wall.advanced(by: .zero - duration) }
    }
}

/// Bytes that look random and are the same in every run.
public final class SeededBytes: Sendable {
    private let generator: Mutex<SeededGenerator>

    public init(seed: UInt64) {
        generator = Mutex(SeededGenerator(seed: seed))
    }

    @Sendable public func make(_ count: Int) -> [UInt8] {
        generator.withLock { generator in
            (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        }
    }

    public func below(_ bound: Int) -> Int {
        let bytes = make(8)
        let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(number % UInt64(bound))
    }
}
