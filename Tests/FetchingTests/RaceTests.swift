import Synchronization
import Testing

@testable import Fetching

@Suite(.timeLimit(.minutes(1))) struct RaceTests {
    private let far = ContinuousClock.now + .seconds(600)

    @Test func whatTheWorkComesToIsTheOutcome() async throws {
        #expect(try await race(until: far) { 42 } == 42)
        await #expect(throws: TooManyFetches.self) {
            try await race(until: far) { throw TooManyFetches() }
        }
    }

    @Test func theDeadlineIsATimeoutAndTheWorkIsCancelledButNotWaitedFor() async {
        let latch = Latch()
        let cancelled = Mutex(false)
        await #expect(throws: FetchFailure(.timedOut)) {
            try await race(until: .now + .milliseconds(20)) {
                await latch.wait()
                cancelled.withLock { $0 = Task.isCancelled }
            }
        }
        latch.open()
        await eventually { cancelled.withLock { $0 } }
    }

    @Test func aCallersCancellationReachesTheWork() async {
        let started = Latch()
        let latch = Latch()
        let cancelled = Mutex(false)
        let task = Task {
            try await race(until: far) {
                started.open()
                await latch.wait()
                cancelled.withLock { $0 = Task.isCancelled }
            }
        }
        await started.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        latch.open()
        await eventually { cancelled.withLock { $0 } }
    }

    @Test func aDeadlineThatHasPassedIsATimeoutWhateverTheWork() async {
        let latch = Latch()
        await #expect(throws: FetchFailure(.timedOut)) {
            try await race(until: .now - .seconds(1)) { await latch.wait() }
        }
        latch.open()
    }
}
