public import AuthCore
internal import AuthStorage

/// What the operator does and sees beside the API.
extension AgentWorld {
    /// Every event on record, oldest first.
    public var events: [AuditEvent] {
        get async throws { try await store.events(after: nil, limit: .max).map(\.event) }
    }

    /// - Returns: `false` when there is no such account.
    public func disable(_ account: AccountID) async throws -> Bool {
        let event = AuditEvent(
            .accountDisabled, time: clock.now, actor: "operator", subject: account.text)
        return try await store.setState(of: account, to: .disabled, recording: event)
    }
}
