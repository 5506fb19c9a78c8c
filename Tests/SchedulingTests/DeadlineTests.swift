import Scheduling
import Testing

@Suite(.timeLimit(.minutes(10))) struct DeadlineTests {
    private let far = ContinuousClock.now + .seconds(600)

    private struct Failed: Error {}

    @Test func theResultOfTheWorkIsTheOutcome() async throws {
        #expect(try await withDeadline(far) { 42 } == 42)
        await #expect(throws: Failed.self) { try await withDeadline(far) { throw Failed() } }
    }

    @Test func lateWorkIsCancelledButNotWaitedFor() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        await #expect(throws: DeadlinePassed.self) {
            try await withDeadline(.now + .milliseconds(20)) { await cancelled(end) }
        }
        for await _ in ends {}
    }

    @Test func aDeadlineInThePastHasPassed() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        await #expect(throws: DeadlinePassed.self) {
            try await withDeadline(.now - .seconds(1)) { await cancelled(end) }
        }
        for await _ in ends {}
    }

    @Test func aCallersCancellationReachesTheWork() async {
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let far = self.far
        let task = Task {
            try await withDeadline(far) {
                start.finish()
                await cancelled(end)
            }
        }
        for await _ in starts {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        for await _ in ends {}
    }
}

/// Work that ends only when it is cancelled, and finishes `end` then.
private func cancelled(_ end: AsyncStream<Void>.Continuation) async {
    try? await Task.sleep(for: .seconds(3600))
    end.finish()
}
