internal import Cryptography
public import Scheduling

/// The mailboxes of the accounts API: create, log in, show, reset the password, delete.
public struct Mailboxes: UseCases {
    public typealias Failure = AccountsError

    let settings: AccountsSettings
    private let policy: AddressPolicy
    private let tokens: TokenAuthority
    private let accounts: any AccountStore
    private let ledger: any ChallengeLedger
    private let holdings: any HoldingStore
    let registrar: MailboxRegistrar
    private let hasher: PasswordHasher
    private let passwords: PasswordLogin
    private let limiter: RateLimiter
    private let creationInterval: CreationInterval
    private let work: ProofOfWork<AccountsChallengeToken>
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - proofs: where is counted what happens to challenges, for metrics.
    ///   - random: returns that many random bytes, fit for keys.
    public init(
        settings: AccountsSettings, policy: AddressPolicy, tokens: TokenAuthority, stores: Stores,
        hasher: PasswordHasher, limiter: RateLimiter, throttle: LoginThrottle,
        proofs: Counters<ProofEvent> = Counters(),
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.settings = settings
        self.policy = policy
        self.tokens = tokens
        accounts = stores.accounts
        ledger = stores.challenges
        holdings = stores.holdings
        registrar = MailboxRegistrar(
            stores: stores, policy: policy, hasher: hasher, settings: settings, random: random)
        self.hasher = hasher
        passwords = PasswordLogin(hasher: hasher, throttle: throttle, audit: stores.audit)
        self.limiter = limiter
        creationInterval = CreationInterval(limiter, ledger: stores.challenges)
        work = ProofOfWork(
            lifetime: settings.challengeLifetime, puzzle: { .sha256(salt: $0.salt) },
            tokens: tokens, challenges: stores.challenges, events: proofs, random: random)
        self.random = random
    }

    // MARK: Creating

    public func issueChallenge(
        to caller: Caller
    ) async throws(AccountsError) -> ProofOfWork<AccountsChallengeToken>.Issued {
        do {
            return try await work.issue(
                difficulty: settings.difficulty, salt: Hex.encode(random(16)), to: caller)
        } catch {
            throw AccountsError(error)
        }
    }

    /// The input of a client to create a mailbox.
    public struct New: Sendable {
        /// As it was sent.
        public let address: String
        public let secret: MailboxSecret
        /// The challenge's token and its solution; `nil` where none was sent.
        public let proof: (challenge: String, proof: Proof)?

        public init(
            address: String, secret: MailboxSecret, proof: (challenge: String, proof: Proof)?
        ) {
            self.address = address
            self.secret = secret
            self.proof = proof
        }
    }

    /// A mailbox with a token that gives access to it.
    public struct Opened: Sendable {
        public let account: Account
        public let token: String
    }

    /// Creates a mailbox: for a proof of work, or for a user, who then owns it.
    ///
    /// The order of the checks is part of the API (docs/api.md, "POST /api/accounts"). The
    /// challenge is spent only when all other checks have passed: after that only the solution, the
    /// limit and the address can make the request fail.
    /// - Parameter principal: the user who will own the mailbox. An account owns nothing, so its
    ///   token has the same effect as no token.
    public func create(
        _ new: New, as principal: Principal?, by caller: Caller
    ) async throws(AccountsError) -> Opened {
        guard let address = Address(parsing: new.address) else { throw .invalidAddress }
        let owner: User? = if case .user(let user) = principal { user } else { nil }
        let domain = try await registrar.domain(of: address, for: owner)
        try new.secret.checkLength()
        guard owner == nil else {
            return try await reserving(.proCreation, for: caller) {
                () async throws(AccountsError) in
                try await insert(address, on: domain, new.secret, owner: owner, by: caller)
            }
        }
        guard let (token, proof) = new.proof else { throw .proofRequired }
        let challenge = try await check(token, at: caller.now)
        return try await reserving(.creation, for: caller) { () async throws(AccountsError) in
            try await spending(challenge, with: proof, by: caller) {
                () async throws(AccountsError) in
                try await within(creationInterval, of: caller) { () async throws(AccountsError) in
                    try await insert(address, on: domain, new.secret, owner: nil, by: caller)
                }
            }
        }
    }

    private func insert(
        _ address: Address, on domain: DomainID?, _ secret: MailboxSecret, owner: User?,
        by caller: Caller
    ) async throws(AccountsError) -> Opened {
        let account = try await registrar.add(
            address, on: domain, secret: secret, owner: owner,
            limit: owner == nil ? nil : settings.maximumAccounts, allowsReserved: false,
            for: caller.address
        ) { id in
            AuditEvent(
                .accountCreated, by: caller, actor: owner.map { .user($0.id) } ?? .account(id),
                subject: address.description)
        }
        return try await open(account, for: caller)
    }

    /// Takes a token of `limit`'s bucket for `body` and gives it back when `body` fails.
    private func reserving<T>(
        _ limit: RateLimiter.Class, for caller: Caller,
        _ body: () async throws(AccountsError) -> T
    ) async throws(AccountsError) -> T {
        let reservation = try attemptNow(try limiter.reserve(limit, for: caller))
        do {
            return try await body()
        } catch {
            reservation.cancel()
            throw error
        }
    }

    private func check(
        _ token: String, at now: Instant
    ) async throws(AccountsError) -> ProofOfWork<AccountsChallengeToken>.Presented {
        do {
            return try await work.check(token, at: now)
        } catch {
            throw AccountsError(error)
        }
    }

    /// Spends the challenge and runs `body`. The challenge is given back when `body` fails with a
    /// temporary error.
    private func spending<T>(
        _ challenge: ProofOfWork<AccountsChallengeToken>.Presented, with proof: Proof,
        by caller: Caller, _ body: () async throws(AccountsError) -> T
    ) async throws(AccountsError) -> T {
        do {
            try await work.spend(challenge, with: proof, by: caller)
        } catch {
            throw AccountsError(error)
        }
        do {
            return try await body()
        } catch {
            try await attempt(await work.refund(challenge, after: error))
            throw error
        }
    }

    // MARK: Logging in

    /// Logs in to a mailbox with its password. A wrong address and a wrong password take the same
    /// time and give the same error.
    /// - Throws: ``AccountsError/invalidCredentials``, or rate limited after too many failures.
    public func logIn(
        address text: String, secret: MailboxSecret, by caller: Caller
    ) async throws(AccountsError) -> Opened {
        guard let address = Address(parsing: text) else { throw .invalidCredentials }
        let found = try await attempt(await accounts.account(address: address))
        let account = found.flatMap { $0.state == .active ? $0 : nil }
        var hash: PasswordHash?
        if case .password(let stored)? = account?.credential { hash = stored }
        let newer = try await passwords.check(
            secret.forHashing(at: address), of: .mailbox(address), against: hash, by: caller)
        guard let account, let hash else { throw .invalidCredentials }
        if let newer {
            _ = try await attempt(await accounts.rehash(account.id, from: hash, to: newer))
        }
        try await passwords.recordSuccess(
            of: .mailbox(address), as: .account(account.id), by: caller)
        return try await open(account, for: caller)
    }

    func open(_ account: Account, for caller: Caller) async throws(AccountsError) -> Opened {
        let token = EmailToken(id: Base64URL.encode(random(16)), account: account)
        return Opened(
            account: account,
            token: try await attempt(
                await tokens.sign(token, lifetime: settings.tokenLifetime, for: caller)))
    }

    /// Ends one Email JWT. Others of the mailbox stay valid.
    /// - Throws: ``AccountsError/invalidToken`` when it was ended before.
    public func logOut(
        _ session: IssuedToken, of account: Account, by caller: Caller
    ) async throws(AccountsError) {
        let event = AuditEvent(
            .sessionEnded, by: caller, actor: .account(account.id),
            subject: account.address.description)
        guard
            try await attempt(
                await ledger.end(session.id, expiry: session.expiry, recording: event))
        else { throw .invalidToken }
    }

    // MARK: One mailbox

    /// How a client names a mailbox: by its id or by its full address.
    public enum Reference: Equatable, Sendable {
        case id(AccountID)
        case address(Address)

        /// - Returns: `nil` for a text that is neither.
        public init?(_ text: String) {
            if let id = AccountID(text) {
                self = .id(id)
            } else if let address = Address(parsing: text) {
                self = .address(address)
            } else {
                return nil
            }
        }
    }

    /// A mailbox and the principal that may act on it. Only ``Mailboxes/access(to:as:)`` makes one.
    public struct Access: Sendable {
        public let account: Account
        let principal: Principal

        var isOwner: Bool { if case .user = principal { true } else { false } }
    }

    /// The mailbox that `reference` names, if `principal` may act on it.
    /// - Parameter reference: `nil` for a text that names none.
    /// - Throws: ``AccountsError/forbidden`` if an Email JWT is for another mailbox, existing or
    ///   not; ``AccountsError/notFound`` if a user does not own the mailbox, existing or not.
    public func access(
        to reference: Reference?, as principal: Principal
    ) async throws(AccountsError) -> Access {
        switch principal {
        case .account(let own):
            switch reference {
            case .id(own.id), .address(own.address):
                return Access(account: own, principal: principal)
            default: throw .forbidden
            }
        case .user(let user):
            let found: Account? =
                switch reference {
                case .id(let id): try await attempt(await accounts.account(id: id))
                case .address(let address):
                    try await attempt(await accounts.account(address: address))
                case nil: nil
                }
            guard let found, found.owner == user.id else { throw .notFound }
            return Access(account: found, principal: principal)
        }
    }

    /// Replaces the password and ends every token of the mailbox.
    ///
    /// Of any number of resets racing with one Email JWT exactly one succeeds, the others throw
    /// ``AccountsError/invalidToken``. A disabled mailbox is ``AccountsError/forbidden``: only the
    /// operator enables it again.
    public func resetPassword(
        of access: Access, to secret: MailboxSecret, by caller: Caller
    ) async throws(AccountsError) {
        let account = access.account
        try secret.checkLength()
        guard account.state == .active else { throw .forbidden }
        let hash = try await attempt(
            await hasher.hash(secret.forHashing(at: account.address), for: caller.address))
        if try await replaceCredential(of: access, at: account, with: hash, by: caller) { return }
        guard access.isOwner else { throw .invalidToken }
        // Another reset came first. The owner's token is still valid, so the later reset counts.
        guard let now = try await attempt(await accounts.account(id: account.id)) else {
            throw .notFound
        }
        guard try await replaceCredential(of: access, at: now, with: hash, by: caller) else {
            throw .common(.busy(retryAfter: .seconds(1)))
        }
    }

    private func replaceCredential(
        of access: Access, at account: Account, with hash: PasswordHash, by caller: Caller
    ) async throws(AccountsError) -> Bool {
        let event = AuditEvent(
            .credentialReset, by: caller, actor: access.principal.actor,
            subject: account.address.description)
        return try await attempt(
            await accounts.replaceCredential(
                of: account.id, at: account.credentialVersion, with: .password(hash),
                recording: event))
    }

    /// Deletes the mailbox with all its tokens. Its address cannot be used again.
    public func delete(_ access: Access, by caller: Caller) async throws(AccountsError) {
        let account = access.account
        let event = AuditEvent(
            .accountDeleted, by: caller, actor: access.principal.actor,
            subject: account.address.description)
        // An Email JWT is valid as long as the password; the owner's token does not depend on the
        // password.
        let version = access.isOwner ? nil : account.credentialVersion
        let isDeleted = try await attempt(
            await accounts.delete(account.id, at: version, recording: event))
        guard isDeleted else { throw access.isOwner ? .notFound : .invalidToken }
    }

    // MARK: A user's mailboxes

    /// A page of the user's mailboxes.
    /// - Parameter cursor: where the page before ended; `nil` for the first.
    /// - Returns: the mailboxes and where the next page begins; no cursor at the end.
    public func list(
        of user: User, after cursor: AccountCursor?
    ) async throws(AccountsError) -> (accounts: [Account], next: AccountCursor?) {
        // One row more than a page shows whether there is another page.
        let found = try await attempt(
            await holdings.accounts(of: user.id, after: cursor, limit: settings.pageSize + 1))
        let page = Array(found.prefix(settings.pageSize))
        guard found.count > page.count, let last = page.last else { return (page, nil) }
        return (page, AccountCursor(created: last.created, id: last.id))
    }
}
