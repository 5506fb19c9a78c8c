extension AgentAuth {
    /// Replaces the API key. The old key and every session of the account are dead from here on.
    /// - Throws: ``Refusal/invalidSession`` when another call with the same session came first.
    public func renewAPIKey(
        of session: PresentedSession, by caller: Caller
    ) async throws -> APIKey {
        let key = APIKey(random: random(32))
        let replaced = try await accounts.replaceCredential(
            of: session.account.id, at: session.account.credentialVersion,
            with: .apiKey(key.digest),
            recording: event(.credentialReset, on: session, by: caller))
        guard replaced else { throw Refusal.invalidSession }
        return key
    }

    /// Deletes the account. Its address is not given out again until the operator frees it.
    /// - Throws: ``Refusal/invalidSession`` when it was deleted or renewed meanwhile.
    public func deleteAccount(of session: PresentedSession, by caller: Caller) async throws {
        let deleted = try await accounts.delete(
            session.account.id, at: session.account.credentialVersion,
            recording: event(.accountDeleted, on: session, by: caller))
        guard deleted else { throw Refusal.invalidSession }
    }

    private func event(
        _ kind: AuditEvent.Kind, on session: PresentedSession, by caller: Caller
    ) -> AuditEvent {
        AuditEvent(
            kind, by: caller, actor: "account:\(session.account.id)",
            subject: session.account.address.description)
    }
}
