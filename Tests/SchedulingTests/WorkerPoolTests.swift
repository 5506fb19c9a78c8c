import Networking
import Scheduling
import TestPrimitives
import Testing

@Suite(.timeLimit(.minutes(10))) struct WorkerPoolTests {
    @Test func noMoreLanesAreTakenThanThereAre() async throws {
        let pool = WorkerPool(name: "test", lanes: 3, depth: 40)
        let tally = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await pool.reserve(for: nil).withLane { lane in
                        #expect(pool.lanes.indices.contains(lane))
                        tally.enter()
                        await Task.yield()
                        tally.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(tally.finished == 40 && tally.most <= 3)
        #expect(pool.statistics.running == 0 && pool.statistics.reserved == 0)
    }

    @Test func aCallerOnAQueueGetsALaneOfThatQueue() async throws {
        let queues = (0..<3).map { QueueExecutor(label: "test.\($0)") }
        let pool = WorkerPool(name: "test", on: queues + queues, depth: 1)
        for (index, queue) in queues.enumerated() {
            let taken = Record<Int>()
            let done = Level()
            for _ in 0..<2 {
                queue.perform {
                    pool.begin { lane in
                        taken.add(lane)
                        done.raise()
                    }
                }
            }
            await done.reaches(2)
            #expect(Set(taken.entries) == [index, index + 3])
        }
        #expect(pool.statistics.running == 6)
        for lane in pool.lanes.indices { pool.giveBack(lane: lane) }
        #expect(pool.statistics.running == 0)
    }

    @Test func theResultOfTheWorkReachesTheCaller() async throws {
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

    @Test func workThatWaitsKeepsItsLaneAndGivesItBack() async throws {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 40)
        let (running, latch, ended) = (Level(), Latch(), Level())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await pool.reserve(for: nil).runKeepingLane {
                        running.raise()
                        #expect(
                            pool.lanes.contains { $0.isIsolatingCurrentContext() == true })
                        await latch.wait()
                        ended.raise()
                    }
                }
            }
            await running.reaches(2)
            // They wait, and keep both lanes.
            while pool.statistics.waiting < 18 { await Task.yield() }
            #expect(pool.statistics.running == 2)
            latch.open()
            try await group.waitForAll()
        }
        await ended.reaches(20)
        #expect(try await pool.run { "a job of another kind" } == "a job of another kind")
        await #expect(throws: Spoiled.self) {
            try await pool.reserve(for: nil).runKeepingLane { throw Spoiled() }
        }
        #expect(try await pool.run { 1 } == 1)
        #expect(pool.statistics.reserved == 0)
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

    @Test func waitingJobsRunInTheOrderOfTheirArrival() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 50)
        let gate = Gate()
        let order = Record<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run { gate.hold() } }
            await gate.await()
            // An immediate task has its job in the queue when it is added.
            for number in 0..<50 {
                group.addImmediateTask { try await pool.run { order.add(number) } }
            }
            #expect(pool.statistics.waiting == 50)
            gate.release()
            try await group.waitForAll()
        }
        #expect(order.entries == Array(0..<50))
    }

    @Test func workThatIsBegunForOthersTakesItsTurnAndNoPlace() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 1)
        let gate = Gate()
        let order = Record<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run { gate.hold() } }
            await gate.await()
            pool.begin { lane in
                pool.lanes[lane].checkIsolated()
                order.add(1)
                pool.giveBack(lane: lane)
            }
            group.addImmediateTask { try await pool.run { order.add(2) } }
            #expect(pool.statistics.waiting == 2 && pool.statistics.reserved == 2)
            gate.release()
            try await group.waitForAll()
        }
        #expect(order.entries == [1, 2])
    }

    @Test func beyondItsDepthAPoolRejectsCallersAndStartsNothing() async throws {
        let pool = WorkerPool(name: "full one", lanes: 1, depth: 2)
        let gate = Gate()
        let tally = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run { gate.hold() } }
            await gate.await()
            for _ in 0..<2 { group.addImmediateTask { try await pool.run { tally.pass() } } }
            #expect(pool.statistics.waiting == 2)
            for _ in 0..<10 {
                let error = await #expect(throws: WorkerPool.Full.self) {
                    try await pool.run { tally.pass() }
                }
                #expect(error?.pool == "full one")
            }
            gate.release()
            try await group.waitForAll()
        }
        #expect(tally.finished == 2)
        #expect(try await pool.run { true })
    }

    @Test func aReservedPlaceIsNeverRejected() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 0)
        var sum = 0
        do {
            let place = try pool.reserve(for: nil)
            await #expect(throws: WorkerPool.Full.self) { try await pool.run {} }
            sum += try await place.run { 1 }
            await #expect(throws: WorkerPool.Full.self) { try await pool.run {} }
            sum += try await place.run { 2 }
        }
        #expect(sum == 3)
        #expect(try await pool.run { true })
    }

    @Test func aReservedPlaceIsHeldToTheEndOfItsScope() async throws {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 0)
        do {
            let place = try pool.reserve(for: nil)
            #expect(pool.statistics.reserved == 1)
            try await place.run {}
            #expect(pool.statistics.reserved == 1)
        }
        #expect(pool.statistics.reserved == 0)
    }

    @Test func aPlaceIsGivenBackWhenItsJobFails() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 0)
        for _ in 0..<3 {
            await #expect(throws: Spoiled.self) {
                let place = try pool.reserve(for: nil)
                try await place.run { throw Spoiled() }
            }
            await #expect(throws: Spoiled.self) { try await pool.run { throw Spoiled() } }
        }
        #expect(try await pool.run { true })
    }

    @Test func theStatisticsCountLanesPlacesJobsAndRejections() async throws {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 1, retryAfter: .seconds(7))
        let gate = Gate()
        func expect(reserved: Int, running: Int, waiting: Int, rejected: Int) {
            let now = pool.statistics
            #expect(now.lanes == 2 && now.capacity == 3)
            #expect(now.reserved == reserved && now.running == running)
            #expect(now.waiting == waiting && now.rejected == rejected)
            #expect(pool.isFull(for: nil) == (reserved == 3))
        }
        expect(reserved: 0, running: 0, waiting: 0, rejected: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { try await pool.run { gate.hold() } } }
            await gate.await(2)
            expect(reserved: 2, running: 2, waiting: 0, rejected: 0)
            group.addImmediateTask { try await pool.run {} }
            expect(reserved: 3, running: 2, waiting: 1, rejected: 0)
            let error = await #expect(throws: WorkerPool.Full.self) { try await pool.run {} }
            #expect(error == .init(pool: "test", retryAfter: .seconds(7)))
            expect(reserved: 3, running: 2, waiting: 1, rejected: 1)
            gate.release(2)
            try await group.waitForAll()
        }
        // A lane is idle again a moment after its caller has the result.
        let now = pool.statistics
        #expect(now.reserved == 0 && now.waiting == 0 && now.rejected == 1)
        // Two found a free lane, and one had to wait.
        #expect(now.waits.count == 3 && now.waits.sum > 0)
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

@Suite(.timeLimit(.minutes(10))) struct WorkerPoolCancellationTests {
    @Test func aCancelledCallersWaitingJobIsRemoved() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 2)
        let gate = Gate()
        let ran = Tally()
        let first = Task { try await pool.run { gate.hold() } }
        await gate.await()
        let second = Task.immediate { try await pool.run { ran.pass() } }
        #expect(pool.statistics.waiting == 1)
        second.cancel()
        // It gets its result while the lane is still busy.
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(pool.statistics.waiting == 0)
        gate.release()
        try await first.value
        #expect(try await pool.run { true })
        #expect(ran.finished == 0)
    }

    @Test func aCallerCancelledBeforeItsCallStartsNothing() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 2)
        let ran = Tally()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await pool.run { ran.pass() }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ran.finished == 0)
    }

    @Test func aJobThatHasBegunIsFinished() async throws {
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

    /// Cancels calls in every state: each is resumed once (a continuation that is resumed twice
    /// traps, one that is never resumed hangs), and no lane and no place is lost.
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
            // A finished call has given its place back: all eight are free again.
            #expect(pool.statistics.waiting == 0)
        }
        #expect(tally.most <= 2)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { try await pool.run { gate.hold() } } }
            await gate.await(2)
            for _ in 0..<6 { group.addImmediateTask { try await pool.run {} } }
            #expect(pool.statistics.waiting == 6)
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

extension WorkerPool {
    fileprivate func run<T: Sendable>(
        _ work: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await run(for: nil, work)
    }
}
