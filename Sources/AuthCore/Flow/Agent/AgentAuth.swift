public import Cryptography

/// The agents' use cases, one call each: ask for a challenge, sign up, log in, get a capability,
/// renew the API key, leave.
///
/// Every call is told who is asking, from where and when; throws a ``Refusal`` when the
/// caller can mend it and anything else when we must. Nothing it acknowledges is lost.
public struct AgentAuth: Sendable {
    /// What the operator sets.
    public struct Settings: Sendable {
        /// The salt of the proof of work; clients carry it, so it is no secret.
        public var salt: String
        /// What one attempt costs. Clients carry these too.
        public var scrypt: Scrypt.Parameters
        public var challengeLifetime: Duration
        public var sessionLifetime: Duration
        public var capabilityLifetime: Duration
        /// What the mail store knows a mailbox by.
        public var mailSubject: MailSubject
        /// Bytes of mail that an agent's mailbox may hold.
        public var quota: Int64

        public init(
            salt: String, scrypt: Scrypt.Parameters,
            challengeLifetime: Duration = .seconds(180),
            sessionLifetime: Duration = .seconds(3600),
            capabilityLifetime: Duration = .seconds(120), mailSubject: MailSubject = .address,
            quota: Int64 = 41_943_040
        ) {
            self.salt = salt
            self.scrypt = scrypt
            self.challengeLifetime = challengeLifetime
            self.sessionLifetime = sessionLifetime
            self.capabilityLifetime = capabilityLifetime
            self.mailSubject = mailSubject
            self.quota = quota
        }
    }

    public let settings: Settings
    public let policy: AddressPolicy
    let governor: DifficultyGovernor
    let falseProofs: FalseProofLimiter
    let tokens: TokenAuthority
    let accounts: any AccountStore
    let ledger: any ChallengeLedger
    let audit: any AuditLog
    let limiter: RateLimiter
    let hashing: any Workers
    let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: gives so many random bytes, fit for keys.
    public init(
        settings: Settings, policy: AddressPolicy, governor: DifficultyGovernor,
        falseProofs: FalseProofLimiter, tokens: TokenAuthority, accounts: any AccountStore,
        ledger: any ChallengeLedger, audit: any AuditLog, limiter: RateLimiter,
        hashing: any Workers,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.settings = settings
        self.policy = policy
        self.governor = governor
        self.falseProofs = falseProofs
        self.tokens = tokens
        self.accounts = accounts
        self.ledger = ledger
        self.audit = audit
        self.limiter = limiter
        self.hashing = hashing
        self.random = random
    }

    /// `jti` and token ids: 128 random bits.
    func makeID() -> String { Base64URL.encode(random(16)) }
}
