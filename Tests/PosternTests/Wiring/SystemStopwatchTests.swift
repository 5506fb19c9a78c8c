import AuthCore
import TestPrimitives
import Testing

@testable import postern

@Suite(.timeLimit(.minutes(10))) struct SystemStopwatchTests {
    private let stopwatch = SystemStopwatch()

    private func soon(_ wait: Duration = .milliseconds(50)) -> ContinuousClock.Instant {
        .now + wait
    }

    @Test func aWaitEndsNotBeforeItsInstant() async throws {
        let instant = soon()
        try await stopwatch.wait(until: instant)
        #expect(ContinuousClock.now >= instant)
        try await stopwatch.wait(until: soon(.seconds(-60)))
    }

    /// The threads of tasks are few: waits that hold one would take minutes here.
    @Test func aWaitHoldsNoThread() async throws {
        let stopwatch = stopwatch
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5000 {
                let instant = soon()
                group.addTask { try await stopwatch.wait(until: instant) }
            }
            try await group.waitForAll()
        }
    }

    @Test func aResultInTimeIsReturned() async throws {
        #expect(try await stopwatch.run(until: soon(.seconds(600))) { 42 } == 42)
        await #expect(throws: CancellationError.self) {
            try await stopwatch.run(until: soon(.seconds(600))) { throw CancellationError() }
        }
    }

    @Test func workBeyondTheDeadlineIsNotWaitedFor() async throws {
        let level = Level()
        let outcome = try await stopwatch.run(until: soon()) { () -> Int in
            await onUncancelled(level)
            return 42
        }
        #expect(outcome == nil)
        level.raise()
    }

    /// Work that ignores its cancellation, as the computation of a hash does.
    private func onUncancelled(_ level: Level) async {
        await Task.detached { await level.reaches() }.value
    }
}
