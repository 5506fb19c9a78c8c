/// An open session: its token and the account it belongs to.
public struct OpenSession: Sendable {
    public let token: String
    public let account: Account
}

/// A session that a client presented, with the account as it is now.
public struct PresentedSession: Sendable {
    let account: Account
}

extension AgentAuth {
    /// Makes a mailbox for `username` and opens a session on it.
    /// - Returns: the session and the API key, which is not kept and cannot be shown again.
    /// - Throws: ``Refusal/usernameNotAllowed``, ``Refusal/invalidUsername(_:)``, what the proof
    ///   is refused with, or ``Refusal/addressTaken``, which is known only once the work is
    ///   proved: asking who has a mailbox here costs a proof a name.
    public func signup(
        _ username: Username, challenge: PresentedChallenge, proof: Proof,
        from client: ClientAddress, at now: Instant
    ) async throws -> (session: OpenSession, apiKey: APIKey) {
        let address = try policy.address(for: username)
        try await redeem(challenge, proof: proof, from: client, at: now)
        let key = APIKey(random: random(32))
        let account = Account(
            id: AccountID(random: random(16)), address: address,
            credential: .apiKey(key.digest), created: now)
        let isNew = try await redeemed(challenge) { try await accounts.insert(account) }
        guard isNew else { throw Refusal.addressTaken }
        return (try await openSession(for: account, at: now), key)
    }

    /// Opens a session on the account that `apiKey` belongs to.
    /// - Throws: ``Refusal/unknownAPIKey``, or what the proof is refused with.
    public func login(
        _ apiKey: APIKey, challenge: PresentedChallenge, proof: Proof,
        from client: ClientAddress, at now: Instant
    ) async throws -> OpenSession {
        try await redeem(challenge, proof: proof, from: client, at: now)
        let account = try await redeemed(challenge) {
            try await accounts.account(apiKey: apiKey.digest)
        }
        guard let account, account.state == .active else { throw Refusal.unknownAPIKey }
        return try await openSession(for: account, at: now)
    }

    /// - Throws: ``Refusal/invalidSession``, also when the account is gone, disabled or has had
    ///   its credentials replaced since.
    public func admit(session token: String?, at now: Instant) async throws -> PresentedSession {
        guard let token,
            let (session, _) = try await tokens.verify(token, as: SessionToken.self, at: now),
            let account = try await accounts.account(id: session.accountID),
            account.state == .active, account.credentialVersion == session.credentialVersion
        else { throw Refusal.invalidSession }
        return PresentedSession(account: account)
    }

    private func openSession(for account: Account, at now: Instant) async throws -> OpenSession {
        let token = try await tokens.sign(
            SessionToken(id: makeID(), account: account), lifetime: settings.sessionLifetime,
            at: now)
        return OpenSession(token: token, account: account)
    }
}
