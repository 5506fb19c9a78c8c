public import AuthCore
internal import Scheduling
internal import Synchronization

/// Sends account events to their receiver until it has accepted each of them.
///
/// Guarantees: At most `inFlight` events are sent at once. An event is sent only after the receiver
/// has accepted all earlier ones of its address; otherwise a late removal could hit the mailbox of
/// a new account with that address. An event that is not accepted is sent again, after longer and
/// longer times, and delays no other address. While the receiver is not available, one event at a
/// time is tried. Events that are still to be sent are in the database, so a stop loses nothing. An
/// event may be sent twice.
public final class EventDelivery: Sendable {
    public struct Settings: Sendable {
        /// Events that are sent at once.
        let inFlight: Int
        /// How long one attempt may take.
        let timeout: Duration
        /// The longest time between two attempts for an event that was not accepted.
        let maxRetryInterval: Duration

        public init(
            inFlight: Int = 8, timeout: Duration = .seconds(10),
            maxRetryInterval: Duration = .seconds(600)
        ) {
            self.inFlight = inFlight
            self.timeout = timeout
            self.maxRetryInterval = maxRetryInterval
        }
    }

    /// Reports for the operator's log.
    public enum Report: Equatable, Sendable {
        /// - Parameter count: how many answers of this kind there were since the last report.
        case rejected(PendingEvent, cause: String, count: Int)
        case unavailable(cause: String, count: Int)
        case availableAgain
    }

    /// The time after the first failure. It doubles with each further one.
    static let firstWait = Duration.seconds(1)
    /// The longest time between two attempts while the receiver is not available.
    static let longestPause = Duration.seconds(30)

    private static let roundTime = Duration.seconds(30)

    private struct State {
        /// Consecutive failures of the receiver itself. Those of one pause count once.
        var failures = 0
        /// No event is sent before this time.
        var resume: Instant?
        var rejections = FoldedReports<Instant>()
        var outages = FoldedReports<Instant>()
    }

    private let queue: any DeliveryQueue
    private let settings: Settings
    private let send: @Sendable (AccountEvent, Instant) async -> EventReceiver.Answer
    private let report: @Sendable (Report) -> Void
    private let clock: @Sendable () -> Instant
    private let jitter: @Sendable () -> Double
    private let state = Mutex(State())

    /// - Parameters:
    ///   - report: must return at once.
    ///   - jitter: the part of a wait that is really waited. It is random, so that events that
    ///     failed together are not sent together again.
    public init(
        _ queue: any DeliveryQueue, settings: Settings,
        send: @escaping @Sendable (AccountEvent, Instant) async -> EventReceiver.Answer,
        report: @escaping @Sendable (Report) -> Void, clock: @escaping @Sendable () -> Instant,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0.5...1) }
    ) {
        self.queue = queue
        self.settings = settings
        self.send = send
        self.report = report
        self.clock = clock
        self.jitter = jitter
    }

    /// Sends the events that are due. Attempts that have begun are completed, also when the caller
    /// is cancelled.
    public func run() async throws {
        try await EventSender<PendingEvent>(
            roundTime: Self.roundTime,
            width: { self.width(at: $0) },
            take: { [queue, settings] now, limit in
                guard try await queue.hasDueEvent(at: now) else { return [] }
                let lease = now.advanced(by: settings.timeout + EventSender<PendingEvent>.grace)
                return try await queue.takeDueEvents(at: now, until: lease, limit: limit)
            }, deliver: deliver, clock: clock
        ).run()
    }

    /// How many events may be sent at once.
    private func width(at now: Instant) -> Int {
        state.withLock { state in
            guard let resume = state.resume else { return settings.inFlight }
            // A clock that was set back must not stop the deliveries.
            return now >= resume || resume.since(now) > Self.longestPause ? 1 : 0
        }
    }

    private func deliver(_ pending: PendingEvent) async throws {
        let answer = await send(pending.event, clock())
        try await note(answer, to: pending, at: clock())
    }

    private func note(
        _ answer: EventReceiver.Answer, to pending: PendingEvent, at now: Instant
    ) async throws {
        let number = pending.event.number
        switch answer {
        case .accepted:
            endOutage()
            _ = try await queue.noteAccepted(number, at: now)
        case .rejected(let cause):
            endOutage()
            if let count = state.withLock({ $0.rejections.note(at: now) }) {
                report(.rejected(pending, cause: cause, count: count))
            }
            let wait = wait(after: pending.attempts, atMost: settings.maxRetryInterval)
            try await queue.postpone(number, until: now.advanced(by: wait))
        case .unavailable(let cause):
            let resume = beginPause(at: now, because: cause)
            let wait = wait(after: pending.attempts, atMost: Self.longestPause)
            try await queue.postpone(number, until: max(resume, now.advanced(by: wait)))
        }
    }

    private func endOutage() {
        let hasEnded = state.withLock { state in
            defer {
                state.failures = 0
                state.resume = nil
            }
            return state.failures > 0
        }
        if hasEnded { report(.availableAgain) }
    }

    /// - Returns: when the next event is sent.
    private func beginPause(at now: Instant, because cause: String) -> Instant {
        let (resume, count) = state.withLock { state in
            let count = state.outages.note(at: now)
            // Events that were sent together fail together, so they count as one failure.
            if let resume = state.resume, now < resume { return (resume, count) }
            state.failures += 1
            let wait = wait(after: Int64(state.failures), atMost: Self.longestPause)
            let resume = now.advanced(by: wait)
            state.resume = resume
            return (resume, count)
        }
        if let count { report(.unavailable(cause: cause, count: count)) }
        return resume
    }

    /// The time until the next attempt: it doubles with each failure up to a limit, and a random
    /// part of it is used.
    private func wait(after failures: Int64, atMost bound: Duration) -> Duration {
        let doublings = Int(min(max(failures, 1) - 1, 20))
        return min(bound, Self.firstWait * (1 << doublings)) * jitter()
    }
}
