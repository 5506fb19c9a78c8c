internal import AuthCore
internal import Scheduling

/// Waiting on the system's monotonic clock, without a thread.
struct SystemStopwatch: Stopwatch {
    func wait(until deadline: ContinuousClock.Instant) async throws {
        if deadline > .now { try await Task.sleep(until: deadline, clock: .continuous) }
    }

    func run<T: Sendable>(
        until deadline: ContinuousClock.Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        do {
            return try await withDeadline(deadline, work)
        } catch is DeadlinePassed {
            return nil
        }
    }
}
