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
