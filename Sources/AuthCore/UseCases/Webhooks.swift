internal import Cryptography
internal import StrictJSON

/// The webhook of a Pro user: make, rotate, delete, show its deliveries, send a test event.
public struct Webhooks: UseCases {
    public typealias Failure = AccountsError

    /// A webhook with its secret, which is shown only once.
    public struct Issued: Sendable {
        public let webhook: Webhook
        /// `whsec_` and the base64 of 32 random bytes.
        public let secret: String
    }

    private let webhooks: any WebhookStore
    private let events: WebhookEvents
    private let keys: KeyRing
    private let checkURL: @Sendable (String) -> String?
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - checkURL: returns the URL in its normal form; `nil` for one that may not be used.
    ///   - random: returns that many random bytes, fit for keys.
    public init(
        webhooks: any WebhookStore, events: WebhookEvents, keys: KeyRing,
        checkURL: @escaping @Sendable (String) -> String?,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.webhooks = webhooks
        self.events = events
        self.keys = keys
        self.checkURL = checkURL
        self.random = random
    }

    public func list(of user: User) async throws(AccountsError) -> [Webhook] {
        try await attempt(await webhooks.webhook(of: user.id)).map { [$0] } ?? []
    }

    /// - Throws: ``AccountsError/invalidURL``, ``AccountsError/webhookExists``.
    public func create(
        url text: String, events: Set<Webhook.EventKind>, for user: User, by caller: Caller
    ) async throws(AccountsError) -> Issued {
        guard let url = checkURL(text) else { throw .invalidURL }
        let id = WebhookID(random: random(16))
        let (secret, sealed) = try await makeSecret(of: id)
        let webhook = Webhook(
            id: id, owner: user.id, url: url, events: events, sealedSecret: sealed,
            created: caller.now)
        let isAdded = try await attempt(
            await webhooks.insert(webhook, recording: event(.webhookCreated, id, user, caller)))
        guard isAdded else { throw .webhookExists }
        return Issued(webhook: webhook, secret: secret)
    }

    /// Replaces the secret. A disabled webhook is active again.
    /// - Parameter id: `nil` for a text that cannot be an id, here and below.
    /// - Throws: ``AccountsError/notFound``, here and below.
    public func rotate(
        _ id: WebhookID?, of user: User, by caller: Caller
    ) async throws(AccountsError) -> Issued {
        guard let id else { throw .notFound }
        let (secret, sealed) = try await makeSecret(of: id)
        let isRotated = try await attempt(
            await webhooks.rotateSecret(
                of: id, of: user.id, to: sealed,
                recording: event(.webhookRotated, id, user, caller)))
        guard isRotated else { throw .notFound }
        return Issued(webhook: try await find(id, of: user), secret: secret)
    }

    /// Removes the webhook. Events that wait are not sent.
    public func remove(
        _ id: WebhookID?, of user: User, by caller: Caller
    ) async throws(AccountsError) {
        guard let id,
            try await attempt(
                await webhooks.removeWebhook(
                    id, of: user.id, recording: event(.webhookRemoved, id, user, caller)))
        else { throw .notFound }
    }

    /// The latest attempts, newest first.
    public func deliveries(
        of id: WebhookID?, of user: User
    ) async throws(AccountsError) -> [WebhookAttempt] {
        let webhook = try await find(id, of: user)
        return try await attempt(await webhooks.attempts(of: webhook.id))
    }

    /// Queues an event of the kind ``Webhook/EventKind/test``.
    /// - Returns: its id.
    /// - Throws: ``AccountsError/webhookDisabled``; busy while too many events wait.
    public func sendTest(
        to id: WebhookID?, of user: User, by caller: Caller
    ) async throws(AccountsError) -> String {
        let webhook = try await find(id, of: user)
        guard webhook.status == .active else { throw .webhookDisabled }
        guard let event = try await attempt(await events.addTest(for: user.id, at: caller.now))
        else { throw .common(.busy(retryAfter: .seconds(60))) }
        return event
    }

    private func find(
        _ id: WebhookID?, of user: User
    ) async throws(AccountsError) -> Webhook {
        guard let webhook = try await attempt(await webhooks.webhook(of: user.id)),
            webhook.id == id
        else { throw .notFound }
        return webhook
    }

    private func makeSecret(
        of id: WebhookID
    ) async throws(AccountsError) -> (text: String, sealed: [UInt8]) {
        // Fails if the master secret was replaced and this server does not have the new one yet.
        try await attempt(await keys.refresh())
        var bytes = random(32)
        defer { bytes.wipe() }
        let sealed = try attemptNow(try keys.seal(bytes, as: .webhook(id)))
        return (WebhookSecret.text(of: bytes), sealed)
    }

    private func event(
        _ kind: AuditEvent.Kind, _ id: WebhookID, _ user: User, _ caller: Caller
    ) -> AuditEvent {
        AuditEvent(kind, by: caller, actor: .user(user.id), subject: id.text)
    }
}

/// The form in which users see the secret of a webhook (Standard Webhooks).
public enum WebhookSecret {
    public static let prefix = "whsec_"

    public static func text(of bytes: [UInt8]) -> String { prefix + Base64.encode(bytes) }
}
