/// A capability as it is handed out.
public struct IssuedCapability: Sendable {
    public let token: String
    public let lifetime: Duration
}

/// A mailbox as the mail store and its clients know it.
public struct MailAccount: Equatable, Sendable {
    /// What the mail store knows the mailbox by.
    public let subject: String
    public let address: Address
}

extension AgentAuth {
    /// Signs a capability for the session's account.
    public func issueCapability(
        for session: PresentedSession, at now: Instant
    ) async throws -> IssuedCapability {
        let account = session.account
        let capability = CapabilityToken(
            id: makeID(), subject: settings.mailSubject.of(account), account: account)
        return IssuedCapability(
            token: try await tokens.sign(
                capability, lifetime: settings.capabilityLifetime, at: now),
            lifetime: settings.capabilityLifetime)
    }

    /// The mailbox that a capability opens.
    /// - Throws: ``Refusal/invalidCapability``, also when the account is gone by now.
    public func mailAccount(
        capability token: String?, at now: Instant
    ) async throws -> MailAccount {
        guard let token,
            let (capability, _) = try await tokens.verify(
                token, as: CapabilityToken.self, at: now),
            let account = try await accounts.account(id: capability.accountID),
            account.state == .active
        else { throw Refusal.invalidCapability }
        return MailAccount(subject: capability.subject, address: account.address)
    }
}
