public import AuthCore

/// What an operator does with commands.
extension AgentWorld {
    /// Every event in the audit log, oldest first.
    public var events: [AuditEvent] {
        get async throws { try await stores.audit.events(after: nil, limit: .max).map(\.event) }
    }

    /// Adds a domain of the operator.
    public func addDomain(_ text: String, isProOnly: Bool = false) async throws {
        guard let name = Domain(parsing: text) else { throw Unsolved() }
        let domain = HostedDomain(
            id: DomainID(random: random.make(16)), name: name, owner: nil, isProOnly: isProOnly,
            verification: .verified, verifyToken: "", verified: clock.now, created: clock.now)
        let event = AuditEvent(.domainAdded, time: clock.now, actor: .operator, subject: text)
        _ = try await stores.domains.insert(domain, limit: nil, recording: event)
    }

    /// - Returns: `false` when there is no such account.
    public func disable(_ account: AccountID) async throws -> Bool {
        let event = AuditEvent(
            .accountDisabled, time: clock.now, actor: .operator, subject: account.text)
        return try await stores.accountDirectory.setState(
            of: account, to: .disabled, recording: event)
    }
}

/// What an agent does.
extension AgentWorld {
    /// A challenge with a proof that solves it.
    public func solvedChallenge() async throws -> (Agents.PresentedChallenge, Proof) {
        let issued = try await agents.issueChallenge(to: caller)
        let proof = try Self.solve(issued.challenge)
        return (try await agents.authenticate(challenge: issued.token, at: clock.now), proof)
    }

    public func signUp(
        _ name: String
    ) async throws -> (session: Agents.OpenSession, apiKey: APIKey) {
        let (challenge, proof) = try await solvedChallenge()
        return try await agents.signUp(
            Username(parsing: name), challenge: challenge, proof: proof, by: caller)
    }

    public func logIn(_ key: APIKey) async throws -> Agents.OpenSession {
        let (challenge, proof) = try await solvedChallenge()
        return try await agents.logIn(key, challenge: challenge, proof: proof, by: caller)
    }
}
