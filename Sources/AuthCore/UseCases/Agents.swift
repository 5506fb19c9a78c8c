public import Cryptography
public import Scheduling

/// The use cases of the agent API: get a challenge, sign up, log in, get a capability, renew the
/// API key, delete the account.
///
/// What a call has acknowledged survives a crash.
public struct Agents: UseCases {
    public typealias Failure = AgentError

    /// The operator's settings.
    public struct Settings: Sendable {
        /// The salt of the proof of work. Clients contain it, so it is public.
        public var salt: String
        /// The cost of one attempt. Clients contain these parameters, too.
        public var scrypt: Scrypt.Parameters
        /// How this server computes it.
        public var kernel: Scrypt.Kernel
        public var challengeLifetime: Duration
        public var sessionLifetime: Duration
        public var capabilityLifetime: Duration
        public var capabilityClaims: CapabilityClaims
        /// The name by which the mail store knows a mailbox.
        public var mailSubject: MailSubject
        /// The quota of an agent's mailbox, in bytes of mail.
        public var quota: Int64

        public init(
            salt: String, scrypt: Scrypt.Parameters, kernel: Scrypt.Kernel = .best,
            challengeLifetime: Duration, sessionLifetime: Duration, capabilityLifetime: Duration,
            capabilityClaims: CapabilityClaims = .full, mailSubject: MailSubject, quota: Int64
        ) {
            self.salt = salt
            self.scrypt = scrypt
            self.kernel = kernel
            self.challengeLifetime = challengeLifetime
            self.sessionLifetime = sessionLifetime
            self.capabilityLifetime = capabilityLifetime
            self.capabilityClaims = capabilityClaims
            self.mailSubject = mailSubject
            self.quota = quota
        }
    }

    /// A challenge that a client sent back.
    public typealias PresentedChallenge = ProofOfWork<AgentChallengeToken>.Presented

    public let settings: Settings
    public let policy: AddressPolicy
    private let work: ProofOfWork<AgentChallengeToken>
    private let governor: DifficultyGovernor
    private let tokens: TokenAuthority
    private let emailTokens: EmailTokens
    let capabilities: Capabilities
    private let accounts: any AccountStore
    private let ledger: any ChallengeLedger
    private let audit: any AuditLog
    private let limiter: RateLimiter
    private let creationInterval: CreationInterval
    private let logins: Counters<LoginResult>
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - hashing: the pool on which scrypt runs.
    ///   - logins: where logins are counted by their end, for metrics.
    ///   - proofs: counts what happens to challenges.
    ///   - random: returns that many random bytes, fit for keys.
    public init(
        settings: Settings, policy: AddressPolicy, governor: DifficultyGovernor,
        wrongProofs: WrongProofLimiter?, tokens: TokenAuthority, accounts: any AccountStore,
        challenges: any ChallengeLedger, audit: any AuditLog, limiter: RateLimiter,
        hashing: WorkerPool, logins: Counters<LoginResult> = Counters(),
        proofs: Counters<ProofEvent> = Counters(),
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.settings = settings
        self.policy = policy
        let scrypt = settings.scrypt
        work = ProofOfWork(
            lifetime: settings.challengeLifetime,
            puzzle: { .scrypt(parameters: scrypt, salt: $0.salt) }, tokens: tokens,
            challenges: challenges, pool: hashing, kernel: settings.kernel,
            wrongProofs: wrongProofs, events: proofs, random: random)
        self.governor = governor
        self.tokens = tokens
        emailTokens = EmailTokens(tokens: tokens, accounts: accounts)
        capabilities = Capabilities(
            claims: settings.capabilityClaims, lifetime: settings.capabilityLifetime,
            names: MailNames(subject: settings.mailSubject, firstDomain: policy.agentDomain),
            tokens: tokens, accounts: accounts, random: random)
        self.accounts = accounts
        ledger = challenges
        self.audit = audit
        self.limiter = limiter
        creationInterval = CreationInterval(limiter, ledger: challenges)
        self.logins = logins
        self.random = random
    }

    /// The difficulty of a challenge for a client that has not asked for one for some time.
    public func lowestDifficulty(at now: ContinuousClock.Instant) -> Int {
        governor.lowest(at: now)
    }

    // MARK: Challenges

    /// Issues a challenge. Its difficulty depends on the rate of challenges for the client's site,
    /// and for all clients together.
    public func issueChallenge(
        to caller: Caller
    ) async throws(AgentError) -> ProofOfWork<AgentChallengeToken>.Issued {
        let difficulty = governor.difficulty(for: caller.address, at: caller.arrival)
        do {
            return try await work.issue(
                difficulty: difficulty, salt: settings.salt, to: caller)
        } catch {
            throw AgentError(error)
        }
    }

    /// - Throws: ``AgentError/invalidChallenge``.
    public func authenticate(
        challenge token: String?, at now: Instant
    ) async throws(AgentError) -> PresentedChallenge {
        do {
            return try await work.check(token, at: now)
        } catch {
            throw AgentError(error)
        }
    }

    // MARK: Sessions

    /// An open session: its token and its account.
    public struct OpenSession: Sendable {
        public let token: String
        public let account: Account
    }

    /// A session that a client presented, with its account as it is now.
    public struct Session: Sendable {
        let account: Account
        let token: IssuedToken
    }

    /// Creates a mailbox for `username` and opens a session on it.
    ///
    /// Whether the name is taken is reported only after the work is proved, so that listing the
    /// mailboxes of this server costs one proof for each name.
    /// - Returns: the session and the API key, which is not stored and cannot be shown again.
    public func signUp(
        _ username: Username, challenge: PresentedChallenge, proof: Proof, by caller: Caller
    ) async throws(AgentError) -> (session: OpenSession, apiKey: APIKey) {
        let address = try policy.address(for: username)
        let reservation = try attemptNow(try limiter.reserve(.creation, for: caller))
        do throws(AgentError) {
            try await spend(challenge, with: proof, by: caller)
            let made = try await paid(by: challenge) { () async throws(AgentError) in
                try await within(creationInterval, of: caller) { () async throws(AgentError) in
                    guard let made = try await insert(address, by: caller) else {
                        throw .usernameTaken
                    }
                    return made
                }
            }
            return (try await openSession(on: made.account, for: caller), made.apiKey)
        } catch {
            reservation.cancel()
            throw error
        }
    }

    /// Opens a session on the account that `apiKey` belongs to.
    public func logIn(
        _ apiKey: APIKey, challenge: PresentedChallenge, proof: Proof, by caller: Caller
    ) async throws(AgentError) -> OpenSession {
        try await spend(challenge, with: proof, by: caller)
        let account = try await paid(by: challenge) { () async throws(AgentError) in
            let found = try await attempt(await accounts.account(apiKey: apiKey.digest))
            let isActive = found?.state == .active
            logins.add(LoginResult(kind: .agent, end: isActive ? .succeeded : .failed))
            try await attempt(
                await audit.append(loginEvent(of: found, succeeded: isActive, by: caller)))
            return isActive ? found : nil
        }
        guard let account else { throw .unknownAPIKey }
        return try await openSession(on: account, for: caller)
    }

    /// - Throws: ``AgentError/invalidSession``, also when the session was ended, or the account is
    ///   deleted, disabled or has got new credentials since the session was opened.
    public func authenticate(
        session token: String?, at now: Instant
    ) async throws(AgentError) -> Session {
        guard let session = try await read(session: token, at: now) else { throw .invalidSession }
        return session
    }

    private func read(
        session token: String?, at now: Instant
    ) async throws(AgentError) -> Session? {
        guard let token,
            let (session, expiry) = try await attempt(
                await tokens.verify(token, as: SessionToken.self, at: now)),
            let account = try await attempt(
                await accounts.account(id: session.accountID, unlessEnded: session.id)),
            account.state == .active, account.credentialVersion == session.credentialVersion
        else { return nil }
        return Session(account: account, token: IssuedToken(id: session.id, expiry: expiry))
    }

    /// Ends one session. Others of the account stay valid.
    /// - Throws: ``AgentError/invalidSession`` when it was ended before.
    public func end(_ session: Session, by caller: Caller) async throws(AgentError) {
        let isEnded = try await attempt(
            await ledger.end(
                session.token.id, expiry: session.token.expiry,
                recording: event(.sessionEnded, on: session.account, by: caller)))
        guard isEnded else { throw .invalidSession }
    }

    // MARK: Capabilities

    /// The session or the Email JWT with which a client asks for a capability. A mailbox with a
    /// password has no sessions here: its Email JWT takes their place.
    /// - Throws: as ``authenticate(session:at:)``.
    public func authenticate(
        sessionOrEmail token: String?, at now: Instant
    ) async throws(AgentError) -> Session {
        if let session = try await read(session: token, at: now) { return session }
        guard let token, let email = try await attempt(await emailTokens.read(token, at: now))
        else { throw .invalidSession }
        return Session(
            account: email.account, token: IssuedToken(id: email.id, expiry: email.expiry))
    }

    /// A new capability token.
    public struct IssuedCapability: Sendable {
        public let token: String
        public let lifetime: Duration
    }

    /// A mailbox with its name at the mail store.
    public struct MailAccount: Equatable, Sendable {
        /// The name by which the mail store knows the mailbox.
        public let subject: String
        public let account: Account

        public var address: Address { account.address }
    }

    /// Signs a capability for the session's account.
    /// - Throws: ``AgentError/subjectNotUnique(first:)``, because two accounts with one subject
    ///   would be one mailbox at the mail store.
    public func issueCapability(
        for session: Session, by caller: Caller
    ) async throws(AgentError) -> IssuedCapability {
        guard
            let token = try await attempt(
                await capabilities.sign(for: session.account, to: caller))
        else { throw .subjectNotUnique(first: policy.agentDomain.text) }
        return IssuedCapability(token: token, lifetime: settings.capabilityLifetime)
    }

    /// The mailbox that a capability gives access to.
    /// - Throws: ``AgentError/invalidCapability``, also when the account has been deleted since.
    public func authenticate(
        capability token: String?, at now: Instant
    ) async throws(AgentError) -> MailAccount {
        guard let token,
            let capability = try await attempt(await capabilities.read(token, at: now))
        else { throw .invalidCapability }
        return MailAccount(subject: capability.subject, account: capability.account)
    }

    /// A minimal capability for a mailbox, with which this server asks the mail store for the
    /// client.
    public func storeToken(
        for mailbox: MailAccount, to caller: Caller
    ) async throws(AgentError) -> String {
        try await attempt(await capabilities.signMinimal(mailbox.subject, to: caller))
    }

    // MARK: The account

    /// Replaces the API key. The old key and every session of the account become invalid.
    /// - Throws: ``AgentError/invalidSession`` when another call with the same session came first.
    public func renewAPIKey(
        of session: Session, by caller: Caller
    ) async throws(AgentError) -> APIKey {
        let account = session.account
        let key = APIKey(random: random(32))
        let isReplaced = try await attempt(
            await accounts.replaceCredential(
                of: account.id, at: account.credentialVersion, with: .apiKey(key.digest),
                recording: event(.credentialReset, on: account, by: caller)))
        guard isReplaced else { throw .invalidSession }
        return key
    }

    /// Deletes the account. Its address is not given out again until the operator frees it.
    /// - Throws: ``AgentError/invalidSession`` when it was deleted or got a new key meanwhile.
    public func deleteAccount(of session: Session, by caller: Caller) async throws(AgentError) {
        let account = session.account
        let isDeleted = try await attempt(
            await accounts.delete(
                account.id, at: account.credentialVersion,
                recording: event(.accountDeleted, on: account, by: caller)))
        guard isDeleted else { throw .invalidSession }
    }

    // MARK: Parts

    private func spend(
        _ challenge: PresentedChallenge, with proof: Proof, by caller: Caller
    ) async throws(AgentError) {
        do {
            try await work.spend(challenge, with: proof, by: caller)
        } catch {
            throw AgentError(error)
        }
    }

    /// Runs `body` after the challenge has been spent. The challenge is given back when `body`
    /// fails with a temporary error.
    private func paid<T>(
        by challenge: PresentedChallenge, _ body: () async throws(AgentError) -> T
    ) async throws(AgentError) -> T {
        do {
            return try await body()
        } catch {
            try await attempt(await work.refund(challenge, after: error))
            throw error
        }
    }

    /// Makes an account with a new API key.
    /// - Returns: `nil` when the address is taken.
    func insert(
        _ address: Address, by caller: Caller
    ) async throws(AgentError) -> (account: Account, apiKey: APIKey)? {
        let key = APIKey(random: random(32))
        let account = Account(
            id: AccountID(random: random(16)), address: address,
            credential: .apiKey(key.digest), quota: settings.quota, created: caller.now)
        let insertion = try await attempt(
            await accounts.insert(
                account, limit: nil, recording: event(.accountCreated, on: account, by: caller)))
        return insertion == .inserted ? (account, key) : nil
    }

    func openSession(
        on account: Account, for caller: Caller
    ) async throws(AgentError) -> OpenSession {
        let token = try await attempt(
            await tokens.sign(
                SessionToken(id: makeTokenID(), account: account),
                lifetime: settings.sessionLifetime, for: caller))
        return OpenSession(token: token, account: account)
    }

    private func event(
        _ kind: AuditEvent.Kind, on account: Account, by caller: Caller
    ) -> AuditEvent {
        AuditEvent(
            kind, by: caller, actor: .account(account.id), subject: account.address.description)
    }

    private func loginEvent(
        of account: Account?, succeeded: Bool, by caller: Caller
    ) -> AuditEvent {
        guard let account else {
            return AuditEvent(
                .loginFailed, by: caller, actor: .anonymous, subject: "unknown API key")
        }
        return AuditEvent(
            succeeded ? .loginSucceeded : .loginFailed, by: caller,
            actor: succeeded ? .account(account.id) : .anonymous,
            subject: account.address.description)
    }

    private func makeTokenID() -> String { Base64URL.encode(random(16)) }
}
