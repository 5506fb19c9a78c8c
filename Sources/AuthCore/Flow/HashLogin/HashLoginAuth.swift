public import Cryptography

/// The hash-login use cases: register an email with a URL that serves an Argon2 hash, log in
/// against what it serves now, check a token, log out.
///
/// No answer tells a stranger more than it says: every fetch that fails is one refusal and takes
/// at least ``Settings/fetchFloor``; every login that fails is one refusal and takes exactly until
/// ``Settings/failureFloor`` after it came, whatever its cause. Waiting holds no thread.
public struct HashLoginAuth: Sendable {
    /// What the operator sets.
    public struct Settings: Sendable {
        /// When a failed login is answered, counted from its arrival. Work that is not done by
        /// then counts as failed.
        public var failureFloor: Duration
        /// The least time in which a failed fetch is answered at registration.
        public var fetchFloor: Duration
        public var registerTimeout: Duration
        public var loginTimeout: Duration
        public var tokenLifetime: Duration
        /// What a served hash may ask of us.
        public var bounds: Argon2Hash.Bounds

        public init(
            failureFloor: Duration = .seconds(3), fetchFloor: Duration = .seconds(1),
            registerTimeout: Duration = .seconds(5), loginTimeout: Duration = .seconds(2),
            tokenLifetime: Duration = .seconds(3600), bounds: Argon2Hash.Bounds = .served
        ) {
            self.failureFloor = failureFloor
            self.fetchFloor = fetchFloor
            self.registerTimeout = registerTimeout
            self.loginTimeout = loginTimeout
            self.tokenLifetime = tokenLifetime
            self.bounds = bounds
        }
    }

    public let settings: Settings
    let policy: AddressPolicy
    let tokens: TokenAuthority
    let logins: any HashLoginStore
    let domains: any DomainStore
    let audit: any AuditLog
    let fetcher: any HashFetcher
    let hashing: any Workers
    let throttle: LoginThrottle
    let stopwatch: any Stopwatch
    /// Fetches for one registration, under way or waiting for their host's turn: nobody fills that
    /// queue, in which all who share the host wait, by logging in to one registration often.
    let fetches = InFlight(limit: 6)

    public init(
        settings: Settings, policy: AddressPolicy, tokens: TokenAuthority,
        logins: any HashLoginStore, domains: any DomainStore, audit: any AuditLog,
        fetcher: any HashFetcher, hashing: any Workers, throttle: LoginThrottle,
        stopwatch: any Stopwatch
    ) {
        self.settings = settings
        self.policy = policy
        self.tokens = tokens
        self.logins = logins
        self.domains = domains
        self.audit = audit
        self.fetcher = fetcher
        self.hashing = hashing
        self.throttle = throttle
        self.stopwatch = stopwatch
    }

    /// Whether `email` is under a domain that mailboxes are made on here: its owner could be
    /// anybody who signs up. A domain that a user has brought is none before it is verified, or any
    /// user could shut out whom he likes by naming their domain.
    func isOurs(_ email: Email) async throws -> Bool {
        if policy.domains.contains(email.domain) { return true }
        guard let domain = try await domains.domain(named: email.domain) else { return false }
        return domain.owner == nil || domain.verification == .verified
    }
}

extension Argon2Hash.Bounds {
    /// Contract section 3: m ≤ 65,536 KiB, t ≤ 10, p ≤ 4, salt 8–64 bytes, tag 16–64.
    public static let served = Argon2Hash.Bounds(
        memoryKiB: 65_536, iterations: 10, parallelism: 4, saltBytes: 8...64, tagBytes: 16...64)
}
