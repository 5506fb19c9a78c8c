import Scheduling
import TestPrimitives
import Testing

@Suite(.timeLimit(.minutes(10))) struct SuspensionTests {
    @Test func aTaskWaitsUntilItIsResumed() async {
        let suspension = Suspension()
        let queue = QueueExecutor(label: "test")
        let order = Record<String>()
        let began = Latch()
        let task = Task {
            began.open()
            await suspension.wait()
            order.add("waited")
        }
        await began.wait()
        queue.perform {
            order.add("resumed")
            suspension.resume()
        }
        await task.value
        #expect(order.entries == ["resumed", "waited"])
    }

    @Test func oneThatWasResumedBeforeDoesNotWait() async {
        let suspension = Suspension()
        let queue = QueueExecutor(label: "test")
        for _ in 0..<100 {
            let done = Latch()
            queue.perform {
                suspension.resume()
                done.open()
            }
            await done.wait()
            await suspension.wait()
        }
    }

    /// Whichever comes first.
    @Test func noResumptionIsLost() async {
        let queue = QueueExecutor(label: "test")
        for _ in 0..<2000 {
            let suspension = Suspension()
            queue.perform { suspension.resume() }
            await suspension.wait()
        }
    }

    @Test func aTaskContinuesOnTheLoopOfItsActor() async throws {
        let loop = try EventLoop(label: "test")
        loop.run()
        let waiter = Waiter(loop)
        for _ in 0..<100 {
            let suspension = Suspension()
            loop.perform { loop.perform { suspension.resume() } }
            #expect(await waiter.wait(for: suspension))
        }
        loop.stop()
    }
}

private actor Waiter {
    private nonisolated let loop: EventLoop

    init(_ loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Returns: whether it was on the loop before and after.
    func wait(for suspension: Suspension) async -> Bool {
        let isBefore = loop.isCurrent
        await suspension.wait()
        return isBefore && loop.isCurrent
    }
}
