public import AuthCore
internal import Cryptography
internal import Scheduling
internal import Synchronization

/// Sends the events of users' webhooks, with the same ``EventSender`` as account events.
///
/// Guarantees: at most `inFlight` events are sent at once, one for each webhook, and of webhooks
/// whose last attempt was slow at most half as many. So a slow receiver delays only its own user.
/// An event that is not accepted is sent again after the times of ``Webhook/retries``, and has
/// failed after the last one. Any number of servers share the work. An event may be sent twice if
/// the server is killed between the answer and its note.
public final class WebhookDelivery: Sendable {
    public struct Settings: Sendable {
        /// Events that are sent at once.
        let inFlight: Int
        /// How long one attempt may take.
        let timeout: Duration

        public init(inFlight: Int = 32, timeout: Duration = .seconds(10)) {
            self.inFlight = inFlight
            self.timeout = timeout
        }
    }

    /// The outcome of one attempt.
    public struct Answer: Equatable, Sendable {
        /// Of the response; `nil` without one.
        let status: Int?
        /// Why the event was not accepted, as its user may know it; `nil` when it was accepted.
        let error: String?
        /// The same for the operator.
        let cause: String

        public init(status: Int?, error: String? = nil, cause: String = "") {
            self.status = status
            self.error = error
            self.cause = cause
        }
    }

    /// A message to be sent.
    public struct Message: Sendable {
        public let url: String
        public let headers: [(name: String, value: String)]
        public let body: [UInt8]
    }

    /// Reports for the operator's log.
    public enum Report: Equatable, Sendable {
        /// - Parameter count: how many attempts failed since the last report.
        case rejected(WebhookID, cause: String, count: Int)
        case disabled(WebhookID)
    }

    /// After that time, or that many events in a row of one webhook, others get its turn.
    private static let turn = (time: Duration.seconds(2), events: 100)

    private struct State {
        /// Webhooks whose last attempt was slow, to which an event is being sent.
        var slow = 0
        var rejections = FoldedReports<Instant>()
    }

    private let queue: any WebhookQueue
    private let settings: Settings
    private let open: @Sendable (_ sealedSecret: [UInt8], SealedSecret) throws -> [UInt8]
    private let send: @Sendable (Message) async -> Answer
    private let count: @Sendable (WebhookEventResult, Int) -> Void
    private let report: @Sendable (Report) -> Void
    private let random: @Sendable (Int) -> [UInt8]
    private let clock: @Sendable () -> Instant
    private let state = Mutex(State())

    /// - Parameters:
    ///   - open: decrypts the secret of a webhook.
    ///   - send: ends within the timeout.
    ///   - count: called for each attempt and each event that was removed; must return at once, as
    ///     `report`.
    public init(
        _ queue: any WebhookQueue, settings: Settings = Settings(),
        open: @escaping @Sendable (_ sealedSecret: [UInt8], SealedSecret) throws -> [UInt8],
        send: @escaping @Sendable (Message) async -> Answer,
        count: @escaping @Sendable (WebhookEventResult, Int) -> Void,
        report: @escaping @Sendable (Report) -> Void,
        random: @escaping @Sendable (Int) -> [UInt8],
        clock: @escaping @Sendable () -> Instant
    ) {
        self.queue = queue
        self.settings = settings
        self.open = open
        self.send = send
        self.count = count
        self.report = report
        self.random = random
        self.clock = clock
    }

    /// Sends the events that are due.
    public func run() async throws {
        try await EventSender<PendingWebhookEvent>(
            width: { [settings] _ in settings.inFlight }, take: take, deliver: deliver,
            clock: clock
        ).run()
    }

    private func take(at now: Instant, limit: Int) async throws -> [PendingWebhookEvent] {
        guard try await queue.hasDueWebhook(at: now) else { return [] }
        let slow = state.withLock { $0.slow }
        let taken = try await queue.takeWebhookEvents(
            at: now, until: lease(at: now), limit: limit,
            slow: max(0, max(1, settings.inFlight / 2) - slow))
        state.withLock { $0.slow += taken.count(where: \.isSlow) }
        return taken
    }

    private func lease(at now: Instant) -> Instant {
        now.advanced(by: settings.timeout + EventSender<PendingWebhookEvent>.grace)
    }

    /// Sends the event, and the next ones of its webhook while they are accepted quickly.
    private func deliver(_ first: PendingWebhookEvent) async throws {
        defer {
            if first.isSlow { state.withLock { $0.slow -= 1 } }
        }
        var next: PendingWebhookEvent? = first
        let begin = ContinuousClock.now
        var sent = 0
        while let pending = next {
            sent += 1
            let (answer, attempt) = try await send(pending)
            guard attempt.isAccepted else {
                return try await note(answer, attempt, of: pending)
            }
            count(.accepted, 1)
            let isLast =
                attempt.isSlow || sent >= Self.turn.events
                || ContinuousClock.now - begin >= Self.turn.time
            next = try await queue.noteAccepted(
                pending, attempt, takingNextUntil: isLast ? nil : lease(at: clock()))
        }
    }

    private func send(
        _ pending: PendingWebhookEvent
    ) async throws -> (Answer, WebhookAttempt) {
        let start = ContinuousClock.now
        let answer: Answer
        do {
            var secret = try open(pending.sealedSecret, .webhook(pending.webhook))
            defer { secret.wipe() }
            let message = Message(
                url: pending.url, headers: Self.fields(of: pending.event, secret, at: clock()),
                body: pending.event.body)
            answer = await send(message)
        } catch {
            answer = Answer(
                status: nil, error: "the secret cannot be read; rotate it", cause: "\(error)")
        }
        let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
        let attempt = WebhookAttempt(
            id: Identifier(random: random(16)), eventID: pending.event.id,
            kind: pending.event.kind, status: answer.status.map { Int64($0) },
            error: answer.error, number: pending.attempts, milliseconds: Int64(elapsed),
            time: clock())
        return (answer, attempt)
    }

    /// The key of the hexadecimal signature is the secret as its user sees it, that of the
    /// signature of Standard Webhooks what it encodes.
    static func fields(
        of event: WebhookEvent, _ secret: [UInt8], at now: Instant
    ) -> [(name: String, value: String)] {
        let key = HMACKey(secret: Array(WebhookSecret.text(of: secret).utf8))
        let signature = key.authenticate(Array("\(now.seconds).".utf8) + event.body)
        return [
            ("X-Webhook-ID", event.id), ("X-Webhook-Timestamp", "\(now.seconds)"),
            ("X-Webhook-Signature", "sha256=" + Hex.encode(signature)),
        ] + WebhookSigner(secret: secret).fields(of: event.id, event.body, at: now)
    }

    private func note(
        _ answer: Answer, _ attempt: WebhookAttempt, of pending: PendingWebhookEvent
    ) async throws {
        count(.rejected, 1)
        let failed = state.withLock { $0.rejections.note(at: attempt.time) }
        if let failed {
            report(.rejected(pending.webhook, cause: answer.cause, count: failed))
        }
        let done = Int(clamping: pending.attempts) - 1
        let wait = Webhook.retries.indices.contains(done) ? Webhook.retries[done] : nil
        if wait == nil { count(.failed, 1) }
        let removed = try await queue.noteRejected(
            pending, attempt, retryAt: wait.map { attempt.time.advanced(by: $0) },
            recording: AuditEvent(
                .webhookDisabled, time: attempt.time, actor: .server,
                subject: pending.webhook.text))
        guard let removed else { return }
        count(.removed, removed)
        report(.disabled(pending.webhook))
    }
}
