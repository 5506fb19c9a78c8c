internal import Cryptography

/// A challenge of the accounts surface as it is handed out.
public struct IssuedAccountsChallenge: Sendable {
    /// The signed token that clients send back as `pow.id`.
    public let id: String
    public let salt: String
    public let difficulty: Int
    public let expiry: Instant
}

/// An account with a token that opens it.
public struct OpenAccount: Sendable {
    public let account: Account
    public let token: String
}

/// What a client sends to make an account.
public struct NewAccount: Sendable {
    /// As it was sent.
    public let address: String
    public let secret: MailboxSecret
    public let proof: ClaimedProof?

    /// The solution of a challenge, as it was sent.
    public struct ClaimedProof: Sendable {
        public let challenge: String
        public let nonce: String

        public init(challenge: String, nonce: String) {
            self.challenge = challenge
            self.nonce = nonce
        }
    }

    public init(address: String, secret: MailboxSecret, proof: ClaimedProof?) {
        self.address = address
        self.secret = secret
        self.proof = proof
    }
}

extension AccountsAuth {
    public func issueChallenge(by caller: Caller) async throws -> IssuedAccountsChallenge {
        let salt = Hex.encode(random(16))
        let challenge = AccountsChallengeToken(
            id: makeTokenID(), salt: salt, difficulty: settings.difficulty)
        let id = try await tokens.sign(
            challenge, lifetime: settings.challengeLifetime, at: caller.now)
        return IssuedAccountsChallenge(
            id: id, salt: salt, difficulty: settings.difficulty,
            expiry: caller.now.advanced(by: settings.challengeLifetime))
    }

    /// Makes an account: for a proof of work, or for a Pro user, who then owns it.
    ///
    /// The checks come in the contract's order; the spend comes once nothing but the proof, the
    /// limit and the address can still stand in the way.
    public func createAccount(
        _ new: NewAccount, as identity: Identity, by caller: Caller
    ) async throws -> OpenAccount {
        let owner = try owner(of: identity)
        guard let address = Address(parsing: new.address) else { throw Refusal.invalidAddress }
        let domain = try await mailboxes.place(of: address, for: owner)
        try new.secret.checkLength()
        guard let owner else {
            let work = try await admit(new.proof, by: caller)
            return try await limiter.reserving(.creation, for: caller) {
                try await redeeming(work) {
                    try await insert(address, on: domain, new.secret, owner: nil, by: caller)
                }
            }
        }
        return try await limiter.reserving(.proCreation, for: caller) {
            try await insert(address, on: domain, new.secret, owner: owner, by: caller)
        }
    }

    /// An Email JWT that verifies counts as no token; one that does not is refused.
    private func owner(of identity: Identity) throws(Refusal) -> User? {
        switch identity {
        case .nobody, .account: nil
        case .user(let user): user
        case .invalid: throw .invalidToken
        }
    }

    private func insert(
        _ address: Address, on domain: DomainID?, _ secret: MailboxSecret, owner: User?,
        by caller: Caller
    ) async throws -> OpenAccount {
        if let owner {
            let held = try await stores.holdings.holdings(of: owner.id).accounts
            guard held < settings.maximumAccounts else { throw Refusal.accountLimitReached }
        }
        guard !policy.reserved.contains(address.localPart.text) else { throw Refusal.addressTaken }
        let account = try await mailboxes.add(
            address, on: domain, secret: secret, owner: owner,
            limit: owner == nil ? nil : settings.maximumAccounts
        ) { id in
            AuditEvent(
                .accountCreated, by: caller,
                actor: owner.map { "user:\($0.id)" } ?? "account:\(id)",
                subject: address.description)
        }
        return try await open(account, at: caller.now)
    }

    private var mailboxes: MailboxRegistrar {
        MailboxRegistrar(
            accounts: stores.accounts, domains: stores.domains, policy: policy, hasher: hasher,
            settings: settings, random: random)
    }

    func open(_ account: Account, at now: Instant) async throws -> OpenAccount {
        let token = try await tokens.sign(
            EmailToken(id: makeTokenID(), account: account), lifetime: settings.tokenLifetime,
            at: now)
        return OpenAccount(account: account, token: token)
    }
}
