internal import AuthCore
internal import Scheduling

/// Sends the due events of a queue in a database: account events and the events of webhooks.
///
/// Guarantees: an event is taken for a limited time before it is sent, so another server sends it
/// if this one ends without a word. Events that become due while others are sent do not wait for
/// them. Attempts that have begun are completed, also when the caller is cancelled.
struct EventSender<Event: Sendable>: Sendable {
    /// If the process that sends an event ends without noting the result, the event is due again
    /// after its timeout and this time.
    static var grace: Duration { .seconds(5) }
    /// How often events that became due are looked for while others are sent.
    private static var watch: Duration { .milliseconds(100) }

    /// One call of ``run()`` takes no new events after this time, so that another server can take
    /// over the task; `nil` if all servers share it.
    var roundTime: Duration?
    /// How many events may be sent at once now.
    let width: @Sendable (_ now: Instant) -> Int
    /// Takes due events, at most a number of them.
    let take: @Sendable (_ now: Instant, _ limit: Int) async throws -> [Event]
    /// Sends an event, and notes the result.
    let deliver: @Sendable (Event) async throws -> Void
    let clock: @Sendable () -> Instant

    private enum Step {
        case delivered
        case watched
    }

    /// Sends events until none is due.
    func run() async throws {
        let begin = clock()
        try await withThrowingTaskGroup(of: Step.self) { group in
            defer { group.cancelAll() }
            var sending = 0
            var begun = 0
            // The group returns them one by one. The places of all that have ended are filled by
            // one call of `take`.
            let ended = Counter()
            var isWatching = false
            while true {
                let now = clock()
                let isOver =
                    Task.isCancelled || roundTime.map { now.since(begin) >= $0 } ?? false
                let free = isOver ? 0 : width(now) - (begun - ended.value)
                if free > 0 {
                    let taken = try await take(now, free)
                    for event in taken {
                        group.addTask {
                            defer { ended.add() }
                            // Not cancelled with the caller, because the answer to an event that
                            // was sent must be noted.
                            try await Task { try await deliver(event) }.value
                            return .delivered
                        }
                    }
                    sending += taken.count
                    begun += taken.count
                }
                guard sending > 0 else { return }
                if !isWatching {
                    isWatching = true
                    group.addTask {
                        // A cancelled sleep ends at once.
                        try? await Task.sleep(for: Self.watch)
                        return .watched
                    }
                }
                switch try await group.next() {
                case .delivered?, nil: sending -= 1
                // Cancelled, sleeping would take no time.
                case .watched?: isWatching = Task.isCancelled
                }
            }
        }
    }
}
