import AuthCore
import TestPrimitives
import Testing

@testable import postern

@Suite(.timeLimit(.minutes(1))) struct SystemStopwatchTests {
    private let stopwatch = SystemStopwatch()

    private func soon(_ wait: Duration = .milliseconds(50)) -> Instant {
        SystemClock.now().advanced(by: wait)
    }

    @Test func aWaitEndsNoSoonerThanItsInstant() async throws {
        let instant = soon()
        try await stopwatch.wait(until: instant)
        #expect(SystemClock.now() >= instant)
        try await stopwatch.wait(until: soon(.seconds(-60)))
    }

    /// On the threads of tasks, two here, so many would take minutes one after the other.
    @Test func thoseWhoWaitHoldNoThread() async throws {
        let stopwatch = stopwatch
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5000 {
                let instant = soon()
                group.addTask { try await stopwatch.wait(until: instant) }
            }
            try await group.waitForAll()
        }
    }

    @Test func whatIsDoneInTimeIsHandedBack() async throws {
        #expect(try await stopwatch.run(until: soon(.seconds(60))) { 42 } == 42)
        await #expect(throws: CancellationError.self) {
            try await stopwatch.run(until: soon(.seconds(60))) { throw CancellationError() }
        }
    }

    @Test func whatIsNotDoneInTimeIsNotWaitedFor() async throws {
        let level = Level()
        let outcome = try await stopwatch.run(until: soon()) { () -> Int in
            await onUncancelled(level)
            return 42
        }
        #expect(outcome == nil)
        level.raise()
    }

    /// Work that does not listen to its cancellation, as a hash that is being computed.
    private func onUncancelled(_ level: Level) async {
        await Task.detached { await level.reaches() }.value
    }
}
