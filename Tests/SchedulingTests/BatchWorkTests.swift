import Networking
import Scheduling
import TestPrimitives
import Testing

@Suite(.timeLimit(.minutes(10))) struct BatchWorkTests {
    /// Doubles its inputs and notes which were computed together. Odd inputs fail.
    private let passes = Record<[Int]>()
    private let doubling: BatchWork<Int, Int>

    init() {
        doubling = BatchWork(atMost: 4) { [passes] inputs in
            passes.add(inputs)
            return inputs.map { $0 % 2 == 0 ? .success(2 * $0) : .failure(Odd(number: $0)) }
        }
    }

    private struct Odd: Error, Equatable {
        let number: Int
    }

    private func double(_ number: Int, on pool: WorkerPool) async throws -> Int {
        try await pool.reserve(for: nil).run(number, in: doubling)
    }

    @Test func aLoneInputIsComputedAtOnce() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 4)
        #expect(try await double(2, on: pool) == 4)
        #expect(try await double(4, on: pool) == 8)
        #expect(passes.entries == [[2], [4]])
    }

    @Test func inputsThatWaitAreComputedTogetherAndEachCallerGetsItsOwnResult() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 10)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run(for: nil) { gate.hold() } }
            await gate.await()
            for number in 0..<6 {
                group.addImmediateTask {
                    if number % 2 == 0 {
                        let result = try await double(number, on: pool)
                        #expect(result == 2 * number)
                    } else {
                        await #expect(throws: Odd(number: number)) {
                            try await double(number, on: pool)
                        }
                    }
                }
            }
            #expect(pool.statistics.waiting == 6 && pool.statistics.reserved == 7)
            gate.release()
            try await group.waitForAll()
        }
        #expect(passes.entries == [[0, 1, 2, 3], [4, 5]])
        #expect(pool.statistics.reserved == 0)
    }

    @Test func beyondItsDepthAPoolRejectsInputs() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 2)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run(for: nil) { gate.hold() } }
            await gate.await()
            for number in [0, 2] {
                group.addImmediateTask { _ = try await double(number, on: pool) }
            }
            #expect(pool.statistics.waiting == 2)
            await #expect(throws: WorkerPool.Full.self) { try await double(4, on: pool) }
            gate.release()
            try await group.waitForAll()
        }
        #expect(passes.entries == [[0, 2]])
    }

    @Test func aCancelledCallersInputIsNotComputed() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 4)
        let gate = Gate()
        let first = Task { try await pool.run(for: nil) { gate.hold() } }
        await gate.await()
        let tasks = [0, 2, 4].map { number in
            Task.immediate { try await double(number, on: pool) }
        }
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        #expect(pool.statistics.waiting == 2)
        gate.release()
        try await first.value
        #expect(try await tasks[0].value == 0)
        #expect(try await tasks[2].value == 8)
        #expect(passes.entries == [[0, 4]])
    }

    /// Each caller is resumed once: a continuation that is resumed twice traps, one that is never
    /// resumed hangs.
    @Test func cancellationAtAnyMomentLosesNoCallerAndNoLane() async throws {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 6)
        for round in 0..<300 {
            let tasks = (0..<8).map { number in
                Task { try await double(number, on: pool) }
            }
            for _ in 0..<(round % 7) { await Task.yield() }
            for task in tasks.reversed() { task.cancel() }
            for (number, task) in tasks.enumerated() {
                switch await task.result {
                case .success(let result): #expect(result == 2 * number)
                case .failure(let error as Odd): #expect(error.number == number)
                case .failure(let error): #expect(error is CancellationError)
                }
            }
            #expect(pool.statistics.waiting == 0 && pool.statistics.reserved == 0)
        }
        #expect(passes.entries.allSatisfy { (1...4).contains($0.count) })
        #expect(try await double(6, on: pool) == 12)
    }

    @Test func oneBatchCanBeComputedOnSeveralPools() async throws {
        let pools = (0..<2).map { WorkerPool(name: "test \($0)", lanes: 1, depth: 40) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let result = try await double(2 * number, on: pools[number % 2])
                    #expect(result == 4 * number)
                }
            }
            try await group.waitForAll()
        }
        #expect(passes.entries.flatMap { $0 }.sorted() == (0..<60).map { 2 * $0 })
    }
}
