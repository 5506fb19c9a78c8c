/// Stores the webhooks of users. Atomicity, events and errors as in ``AccountStore``.
public protocol WebhookStore: Sendable {
    /// Adds the webhook, unless its owner has one.
    func insert(_ webhook: Webhook, recording event: AuditEvent) async throws -> Bool

    /// The owner's webhook.
    func webhook(of owner: UserID) async throws -> Webhook?

    /// Replaces the secret. The webhook is active, and has no failures, from now on.
    /// - Returns: `false` when the owner has no such webhook.
    func rotateSecret(
        of id: WebhookID, of owner: UserID, to sealedSecret: [UInt8], recording event: AuditEvent
    ) async throws -> Bool

    /// Removes the webhook with its events and attempts.
    /// - Returns: `false` when the owner has no such webhook.
    func removeWebhook(
        _ id: WebhookID, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool

    /// The latest ``Webhook/attemptsKept`` attempts, newest first.
    func attempts(of id: WebhookID) async throws -> [WebhookAttempt]
}

/// The events that wait to be sent to webhooks.
///
/// At most one event of a webhook is sent at a time, by whichever server has taken it, so a slow
/// receiver delays only the events of its own user. Several servers may call the methods at the
/// same time.
public protocol WebhookQueue: Sendable {
    /// Adds events for the owners' webhooks that are active and subscribed to them. Events beyond
    /// ``Webhook/queueLimit`` of a webhook are dropped.
    /// - Returns: for each event whether it was added. When this returns, the events are durable.
    func add(_ events: [(event: WebhookEvent, owner: UserID)]) async throws -> [Bool]

    /// Whether an event of a webhook is due that no server is sending to.
    func hasDueWebhook(at now: Instant) async throws -> Bool

    /// Takes the first due event of at most `limit` webhooks to which no server is sending; of
    /// those webhooks at most `slow` whose last attempt was slow. Each event counts as tried, and
    /// its webhook is free again at `retry`, so that no event is lost if its sender is killed.
    func takeWebhookEvents(
        at now: Instant, until retry: Instant, limit: Int, slow: Int
    ) async throws -> [PendingWebhookEvent]

    /// Records an attempt that was accepted, removes its event, and takes the next due event of the
    /// webhook as ``takeWebhookEvents(at:until:limit:slow:)`` does.
    /// - Parameter retry: `nil` to free the webhook, and take nothing.
    func noteAccepted(
        _ pending: PendingWebhookEvent, _ attempt: WebhookAttempt, takingNextUntil retry: Instant?
    ) async throws -> PendingWebhookEvent?

    /// Records an attempt that was not accepted, and frees the webhook.
    /// - Parameters:
    ///   - retry: when the event is sent again; `nil` when it has failed.
    ///   - event: recorded if the webhook is disabled by this failure, the
    ///     ``Webhook/failureLimit``th in a row. Its events are removed then.
    /// - Returns: how many events were removed; `nil` unless the webhook was disabled.
    func noteRejected(
        _ pending: PendingWebhookEvent, _ attempt: WebhookAttempt, retryAt retry: Instant?,
        recording event: AuditEvent
    ) async throws -> Int?
}
