public import AuthCore
internal import AuthStorage
public import Cryptography
internal import Synchronization
internal import TestPrimitives

/// A world of its own for one test: a database in memory, a clock that moves when told, randomness
/// from a seed, and a proof of work that costs microseconds.
public final class AgentWorld: Sendable {
    public static let scrypt = testScrypt
    public static let salt = "0b980734412c292d6549110276b604ab1dea4883bd460d77d1b984adf8bca083"
    public static let issuer = "https://auth.mail.test"
    public static let loginIssuer = "https://login.mail.test"
    public static let client = ClientAddress(bytes: [192, 0, 2, 7])

    /// A request from that client, now.
    public var caller: Caller {
        Caller(client: Self.client, requestID: "test-1", now: clock.now)
    }

    public let stores: Stores
    public let clock = TestClock()
    public let keys: KeyRing
    public let tokens: TokenAuthority
    public let auth: AgentAuth
    /// The accounts surface's use cases on the same stores.
    public let accounts: AccountsAuth
    public let resolver = TestResolver()
    /// The hash-login use cases on the same stores.
    public let hashLogin: HashLoginAuth
    public let host = TestHost()
    public let stopwatch: TestStopwatch
    public let random = SeededBytes(seed: 1)
    public let limiter: RateLimiter

    /// - Parameters:
    ///   - hashing: where scrypt runs; at once and in place unless given.
    ///   - stores: a new database in memory unless given.
    ///   - accounts: replaces that store, for tests in which it fails.
    ///   - ledger: replaces the store of spent challenges, for the same.
    ///   - registrationIsOpen: whether anybody may become a Pro user.
    ///   - falseProofAllowance: false proofs of one client before it has to wait.
    ///   - passwords: what a stored password costs; next to nothing unless given.
    public init(
        difficulty: Int = 2, stores: Stores? = nil,
        hashing: any Workers = InlineWorkers(), accounts: (any AccountStore)? = nil,
        ledger: (any ChallengeLedger)? = nil, capabilityKeyID: Bool = true,
        mailSubject: MailSubject = .address, limits: Bool = false,
        registrationIsOpen: Bool = false, falseProofAllowance: Int = 10,
        passwords: PasswordHasher.Settings = .init(memoryKiB: 8, iterations: 1, parallelism: 1)
    ) throws {
        limiter = RateLimiter(settings: .init(isEnabled: limits))
        var stores = try stores ?? Database.openInMemory()
        if let accounts { stores.accounts = accounts }
        if let ledger { stores.challenges = ledger }
        self.stores = stores
        let random = self.random
        let clock = self.clock
        keys = try KeyRing(
            store: stores.signingKeys,
            sealer: KeySealer(masterSecret: Self.masterSecret, random: random.make),
            workers: InlineWorkers(), random: random.make, clock: { clock.now })
        tokens = TokenAuthority(
            realm: Realm(
                issuer: Self.issuer, loginIssuer: Self.loginIssuer,
                capabilityAudience: "api-service",
                capabilityKeyID: capabilityKeyID),
            keys: keys, signers: InlineWorkers())
        auth = AgentAuth(
            settings: AgentAuth.Settings(
                salt: Self.salt, scrypt: Self.scrypt, mailSubject: mailSubject),
            policy: Self.policy,
            governor: DifficultyGovernor(settings: .init(base: difficulty, maximum: difficulty)),
            falseProofs: FalseProofLimiter(allowance: falseProofAllowance), tokens: tokens,
            accounts: stores.accounts,
            ledger: stores.challenges, audit: stores.audit, limiter: limiter, hashing: hashing,
            random: random.make)
        self.accounts = AccountsAuth(
            settings: AccountsSettings(
                difficulty: 4, pageSize: 3, registrationIsOpen: registrationIsOpen,
                maximumAccounts: 7, maximumDomains: 2, mailExchanger: Self.policy.agentDomain),
            policy: Self.policy, tokens: tokens, stores: AccountsAuth.Stores(stores),
            hasher: PasswordHasher(
                settings: passwords, workers: hashing, random: random.make),
            limiter: limiter, throttle: LoginThrottle(random: random.make), resolver: resolver,
            random: random.make)
        stopwatch = TestStopwatch(clock: clock)
        self.hashLogin = HashLoginAuth(
            settings: HashLoginAuth.Settings(), policy: Self.policy, tokens: tokens,
            logins: stores.hashLogins, domains: stores.domains, audit: stores.audit, fetcher: host,
            hashing: hashing,
            throttle: LoginThrottle(random: random.make), stopwatch: stopwatch)
    }

    public static let masterSecret = [UInt8](repeating: 7, count: 32)

    public static var policy: AddressPolicy {
        guard let domain = Domain(parsing: "mail.test") else { preconditionFailure() }
        return AddressPolicy(domains: [domain])
    }

    /// A Pro user with a password, put there by the operator.
    public func addUser(_ email: String, password: String = "propassword") async throws -> User {
        guard let email = Email(parsing: email) else { throw Unsolved() }
        return try await accounts.addUser(
            email, password: Array(password.utf8), by: caller, actor: "operator")
    }

    /// Finds a proof for `challenge` the way a client does.
    public static func solve(_ challenge: ChallengeToken, from start: Int64 = 0) throws -> Proof {
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

/// scrypt that costs next to nothing.
private let testScrypt: Scrypt.Parameters = {
    do {
        return try Scrypt.Parameters(n: 2, r: 1, p: 1, outputBytes: 64)
    } catch {
        preconditionFailure("the test's own parameters are out of bounds")
    }
}()

/// A clock that a test moves.
public final class TestClock: Sendable {
    private let instant = Mutex(Instant(seconds: 1_800_000_000))

    public init() {}

    public var now: Instant { instant.withLock { $0 } }

    public func advance(by duration: Duration) {
        instant.withLock { $0 = $0.advanced(by: duration) }
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
