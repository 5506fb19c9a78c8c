internal import AuthCore
internal import Scheduling

/// Waiting by the machine's clock, without a thread.
struct SystemStopwatch: Stopwatch {
    func wait(until instant: Instant) async throws {
        let rest = instant.since(SystemClock.now())
        if rest > .zero { try await Task.sleep(for: rest) }
    }

    func run<T: Sendable>(
        until deadline: Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        do {
            return try await withDeadline(.now + deadline.since(SystemClock.now()), work)
        } catch is DeadlinePassed {
            return nil
        }
    }
}
