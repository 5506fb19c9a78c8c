internal import AuthCore
internal import Scheduling

/// Waiting on the system's monotonic clock, without a thread.
struct SystemStopwatch: Stopwatch {
    /// The clock of the deadlines.
    var clock = SystemClock.clocks

    func wait(until deadline: ContinuousClock.Instant) async throws {
        let deadline = clock.systemTime(of: deadline)
        if deadline > .now { try await Task.sleep(until: deadline, clock: .continuous) }
    }

    func run<T: Sendable>(
        until deadline: ContinuousClock.Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        do {
            return try await withDeadline(clock.systemTime(of: deadline), work)
        } catch is DeadlinePassed {
            return nil
        }
    }
}

extension ServerClock {
    /// The time on the system's monotonic clock at which the server's clock reaches `instant`,
    /// unless a test suite sets the server's clock before.
    func systemTime(of instant: ContinuousClock.Instant) -> ContinuousClock.Instant {
        .now + (instant - monotonic())
    }
}
