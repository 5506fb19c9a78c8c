import Testing

@testable import AuthCore

struct StopwatchTests {
    private let clock = ContinuousClock()
    private let never = Instant(milliseconds: .max)

    @Test func workThatIsDoneInTimeIsGiven() async throws {
        #expect(try await Sleeper().run(until: never) { 7 } == 7)
    }

    @Test func workThatFailsFails() async throws {
        await #expect(throws: Refusal.loginFailed) {
            _ = try await Sleeper().run(until: never) { () async throws -> Int in
                throw Refusal.loginFailed
            }
        }
    }

    @Test func workThatIsLateIsNotWaitedForAndIsCancelled() async throws {
        let cancelled = AsyncStream<Void>.makeStream()
        let outcome = try await Sleeper().run(until: Instant(milliseconds: 0)) { () -> Int in
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                cancelled.continuation.finish()
            }
            return 7
        }
        #expect(outcome == nil)
        for await _ in cancelled.stream {}
    }

    @Test func whoIsCancelledStopsWaiting() async {
        let task = Task {
            try await Sleeper().run(until: never) { () -> Int in
                try await Task.sleep(for: .seconds(3600))
                return 7
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }

    @Test func noMoreThanTheLimitIsUnderWayForOneKey() async {
        let flights = InFlight(limit: 1)
        let inner = await flights.run("a") {
            let second = await flights.run("a") { 1 }
            let other = await flights.run("b") { 2 }
            return (second, other)
        }
        #expect(inner?.0 == nil && inner?.1 == 2)
        #expect(await flights.run("a") { 3 } == 3)
    }
}

/// An instant in the past is there at once; any other never comes.
private struct Sleeper: Stopwatch {
    func wait(until instant: Instant) async throws {
        if instant.milliseconds > 0 { try await Task.sleep(for: .seconds(3600)) }
    }
}
