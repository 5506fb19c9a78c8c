import Scheduling
import TestPrimitives
import Testing

@Suite(.timeLimit(.minutes(10))) struct KeyedLimiterTests {
    private let waits = Level()
    private let entered = Latch()
    private let latch = Latch()

    private struct Failed: Error {}

    private func limiter(waitingPerKey: Int, waiting: Int) -> KeyedLimiter<String> {
        KeyedLimiter(
            width: 1, waitingPerKey: waitingPerKey, waiting: waiting, onWait: { waits.raise() })
    }

    /// Takes the key `a` until the latch is opened.
    private func hold(_ limiter: KeyedLimiter<String>) async throws {
        try await limiter.run("a") {
            entered.open()
            await latch.wait()
        }
    }

    @Test func noMoreRunAtOnceForAKeyThanTheLimiterIsWide() async throws {
        let limiter = KeyedLimiter<String>(width: 2, waitingPerKey: 100, waiting: 100)
        let inside = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await limiter.run("a") {
                        inside.enter()
                        await Task.yield()
                        inside.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(inside.most == 2)
        #expect(inside.finished == 50)
    }

    @Test func waitingCallersRunInTheOrderOfTheirArrival() async throws {
        let limiter = limiter(waitingPerKey: 10, waiting: 10)
        let order = Record<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hold(limiter) }
            await entered.wait()
            for number in 0..<10 {
                group.addTask { try await limiter.run("a") { order.add(number) } }
                await waits.reaches(number + 1)
            }
            latch.open()
            try await group.waitForAll()
        }
        #expect(order.entries == Array(0..<10))
    }

    @Test func oneKeyDoesNotDelayAnother() async throws {
        let limiter = limiter(waitingPerKey: 1, waiting: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hold(limiter) }
            await entered.wait()
            #expect(try await limiter.run("b") { 1 } == 1)
            #expect(limiter.occupancy == (1, 0))
            latch.open()
            try await group.waitForAll()
        }
    }

    @Test(arguments: [(1, 9), (9, 1)])
    func beyondItsQueueTheLimiterRejectsCallers(waitingPerKey: Int, waiting: Int) async throws {
        let limiter = limiter(waitingPerKey: waitingPerKey, waiting: waiting)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await hold(limiter) }
            await entered.wait()
            group.addTask { try await limiter.run("a") {} }
            await waits.reaches()
            await #expect(throws: KeyLimitReached.self) { try await limiter.run("a") {} }
            latch.open()
            try await group.waitForAll()
        }
        #expect(limiter.occupancy == (0, 0))
    }

    @Test func withoutAQueueTheNextCallerIsRejectedAtOnce() async throws {
        let limiter = KeyedLimiter<String>(width: 1)
        try await limiter.run("a") {
            await #expect(throws: KeyLimitReached.self) { try await limiter.run("a") {} }
            try await limiter.run("b") {}
        }
        try await limiter.run("a") {}
    }

    @Test func aCallerCancelledWhileItWaitsLeavesTheQueue() async throws {
        let limiter = limiter(waitingPerKey: 1, waiting: 1)
        let inside = Task { try await hold(limiter) }
        await entered.wait()
        let waiting = Task { try await limiter.run("a") {} }
        await waits.reaches()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(limiter.occupancy == (1, 0))
        latch.open()
        try await inside.value
        #expect(limiter.occupancy == (0, 0))
    }

    @Test func aCallerWhoseWorkFailsGivesItsPlaceBack() async {
        let limiter = KeyedLimiter<String>(width: 1)
        for _ in 0..<2 {
            await #expect(throws: Failed.self) {
                try await limiter.run("a") { throw Failed() }
            }
        }
        #expect(limiter.occupancy == (0, 0))
    }

    @Test func aCallerCancelledBeforeItsCallDoesNotRun() async {
        let limiter = KeyedLimiter<String>(width: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await limiter.run("a") { _ = Issue.record("it ran") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(limiter.occupancy == (0, 0))
    }
}
