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
        _ username: Username, challenge: PresentedChallenge, proof: Proof, by caller: Caller
    ) async throws -> (session: OpenSession, apiKey: APIKey) {
        let address = try policy.address(for: username)
        return try await limiter.reserving(.creation, for: caller) {
            try await redeem(challenge, proof: proof, by: caller)
            let key = APIKey(random: random(32))
            let account = Account(
                id: AccountID(random: random(16)), address: address,
                credential: .apiKey(key.digest), quota: settings.quota, created: caller.now)
            let event = AuditEvent(
                .accountCreated, by: caller, actor: "account:\(account.id)",
                subject: address.description)
            let insertion = try await ledger.honouring(challenge.challenge.id) {
                try await accounts.insert(account, limit: nil, recording: event)
            }
            guard insertion == .inserted else { throw Refusal.addressTaken }
            return (try await openSession(for: account, at: caller.now), key)
        }
    }

    /// Opens a session on the account that `apiKey` belongs to.
    /// - Throws: ``Refusal/unknownAPIKey``, or what the proof is refused with.
    public func login(
        _ apiKey: APIKey, challenge: PresentedChallenge, proof: Proof, by caller: Caller
    ) async throws -> OpenSession {
        try await redeem(challenge, proof: proof, by: caller)
        let found = try await ledger.honouring(challenge.challenge.id) {
            let account = try await accounts.account(apiKey: apiKey.digest)
            let active = account.flatMap { $0.state == .active ? $0 : nil }
            try await audit.append(loginEvent(of: account, succeeded: active != nil, by: caller))
            return active
        }
        guard let found else { throw Refusal.unknownAPIKey }
        return try await openSession(for: found, at: caller.now)
    }

    private func loginEvent(
        of account: Account?, succeeded: Bool, by caller: Caller
    ) -> AuditEvent {
        AuditEvent(
            succeeded ? .loginSucceeded : .loginFailed, by: caller,
            actor: succeeded ? account.map { "account:\($0.id)" } ?? "anonymous" : "anonymous",
            subject: account?.address.description ?? "unknown API key")
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
