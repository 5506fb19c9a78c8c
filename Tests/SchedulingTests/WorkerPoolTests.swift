import Scheduling
import TestPrimitives
import Testing

@Suite(.timeLimit(.minutes(1))) struct WorkerPoolTests {
    @Test func whatTheWorkGivesReachesTheCaller() async throws {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 2)
        #expect(try await pool.run { 6 * 7 } == 42)
        await #expect(throws: Spoiled.self) { try await pool.run { throw Spoiled() } }
        #expect(try await pool.run { "still there" } == "still there")
    }

    @Test func noMoreJobsRunAtOnceThanThereAreLanes() async throws {
        let pool = WorkerPool(name: "test", lanes: 3, depth: 200)
        let tally = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { try await pool.run { tally.pass() } } }
            try await group.waitForAll()
        }
        #expect(tally.finished == 200)
        #expect(tally.most <= 3)
    }

    @Test func allLanesRunAtOnce() async throws {
        let pool = WorkerPool(name: "test", lanes: 4, depth: 0)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await pool.run { gate.hold() } } }
            await gate.await(4)
            gate.release(4)
            try await group.waitForAll()
        }
    }

    @Test func waitingJobsRunInTheOrderInWhichTheyCame() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 50)
        let gate = Gate()
        let order = Record<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run { gate.hold() } }
            await gate.await()
            // An immediate task has its job in the line when it is added.
            for number in 0..<50 {
                group.addImmediateTask { try await pool.run { order.add(number) } }
            }
            #expect(pool.waiting == 50)
            gate.release()
            try await group.waitForAll()
        }
        #expect(order.entries == Array(0..<50))
    }

    @Test func beyondItsDepthAPoolTurnsCallersAwayAndStartsNothing() async throws {
        let pool = WorkerPool(name: "full one", lanes: 1, depth: 2)
        let gate = Gate()
        let tally = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run { gate.hold() } }
            await gate.await()
            for _ in 0..<2 { group.addImmediateTask { try await pool.run { tally.pass() } } }
            #expect(pool.waiting == 2)
            for _ in 0..<10 {
                let refusal = await #expect(throws: WorkerPool.Full.self) {
                    try await pool.run { tally.pass() }
                }
                #expect(refusal?.pool == "full one")
            }
            gate.release()
            try await group.waitForAll()
        }
        #expect(tally.finished == 2)
        #expect(try await pool.run { true })
    }

    @Test func aPlaceThatIsHeldIsNeverRefused() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 0)
        let sum = try await pool.withPlace { place in
            await #expect(throws: WorkerPool.Full.self) { try await pool.run {} }
            let one = try await place.run { 1 }
            await #expect(throws: WorkerPool.Full.self) { try await pool.run {} }
            return one + (try await place.run { 2 })
        }
        #expect(sum == 3)
        #expect(try await pool.run { true })
    }

    @Test func aPlaceIsGivenBackHoweverItsBodyEnds() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 0)
        for _ in 0..<3 {
            await #expect(throws: Spoiled.self) {
                try await pool.withPlace { _ in throw Spoiled() }
            }
            await #expect(throws: Spoiled.self) {
                try await pool.withPlace { try await $0.run { throw Spoiled() } }
            }
        }
        #expect(try await pool.run { true })
    }

    @Test func twoPoolsShareNothing() async throws {
        let slow = WorkerPool(name: "slow", lanes: 8, depth: 8)
        let other = WorkerPool(name: "other", lanes: 1, depth: 0)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await slow.run { gate.hold() } } }
            await gate.await(8)
            #expect(try await other.run { true })
            gate.release(8)
            try await group.waitForAll()
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct WorkerPoolCancellationTests {
    @Test func aCancelledCallerTakesItsWaitingJobWithIt() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 2)
        let gate = Gate()
        let ran = Tally()
        let first = Task { try await pool.run { gate.hold() } }
        await gate.await()
        let second = Task.immediate { try await pool.run { ran.pass() } }
        #expect(pool.waiting == 1)
        second.cancel()
        // It is answered while the lane is still held.
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(pool.waiting == 0)
        gate.release()
        try await first.value
        #expect(try await pool.run { true })
        #expect(ran.finished == 0)
    }

    @Test func aCallerThatIsCancelledAlreadyStartsNothing() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 2)
        let ran = Tally()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await pool.run { ran.pass() }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ran.finished == 0)
    }

    @Test func aJobThatHasBegunIsSeenThrough() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 0)
        let gate = Gate()
        let task = Task {
            try await pool.run { () -> Int in
                gate.hold()
                return 7
            }
        }
        await gate.await()
        task.cancel()
        gate.release()
        #expect(try await task.value == 7)
    }

    /// Cancellation at every moment of a call's life: each is answered once (a continuation that
    /// is resumed twice traps, one that never is hangs), and no lane and no place is lost.
    @Test func cancellationAtAnyMomentLosesNoLane() async throws {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 6)
        let tally = Tally()
        for round in 0..<300 {
            let tasks = (0..<8).map { _ in
                Task { try await pool.run { tally.pass() } }
            }
            for _ in 0..<(round % 7) { await Task.yield() }
            for task in tasks.reversed() { task.cancel() }
            for task in tasks { _ = await task.result }
            // Done with a call, a caller has given its place back: all eight are there again.
            #expect(pool.waiting == 0)
        }
        #expect(tally.most <= 2)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { try await pool.run { gate.hold() } } }
            await gate.await(2)
            for _ in 0..<6 { group.addImmediateTask { try await pool.run {} } }
            #expect(pool.waiting == 6)
            gate.release(2)
            try await group.waitForAll()
        }
    }
}

private struct Spoiled: Error {}

extension Tally {
    fileprivate func pass() {
        enter()
        leave()
    }
}
