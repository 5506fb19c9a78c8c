import TestPrimitives
import Testing

@testable import Fetching

@Suite(.timeLimit(.minutes(1))) struct HostGateTests {
    private let a = FetchTarget.Host.name("a.test")
    private let b = FetchTarget.Host.name("b.test")
    private let waits = Level()
    private let entered = Latch()
    private let latch = Latch()

    private func gate(width: Int = 1, perHost: Int, depth: Int) -> HostGate {
        HostGate(width: width, perHost: perHost, depth: depth, onWait: { waits.raise() })
    }

    /// Enters and stays until the latch is opened.
    private func stay(in gate: HostGate) async throws {
        try await gate.withPlace(at: a) {
            entered.open()
            await latch.wait()
        }
    }

    @Test func noMoreAreInsideThanTheGateIsWide() async throws {
        let gate = HostGate(width: 2, perHost: 100, depth: 100)
        let inside = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await gate.withPlace(at: a) {
                        inside.enter()
                        await Task.yield()
                        inside.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(inside.most == 2)
    }

    @Test func thoseWhoWaitEnterInTheOrderInWhichTheyCame() async throws {
        let gate = gate(perHost: 10, depth: 10)
        let order = Record<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await stay(in: gate) }
            await entered.wait()
            for number in 0..<10 {
                group.addTask {
                    try await gate.withPlace(at: a) { order.add(number) }
                }
                await waits.reaches(number + 1)
            }
            latch.open()
            try await group.waitForAll()
        }
        #expect(order.entries == Array(0..<10))
    }

    @Test func oneHostHoldsNoOtherUp() async throws {
        let gate = gate(perHost: 1, depth: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await stay(in: gate) }
            await entered.wait()
            #expect(try await gate.withPlace(at: b) { 1 } == 1)
            latch.open()
            try await group.waitForAll()
        }
    }

    @Test(arguments: [(1, 9), (9, 1)])
    func beyondItsDepthTheGateTurnsCallersAway(perHost: Int, depth: Int) async throws {
        let gate = gate(perHost: perHost, depth: depth)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await stay(in: gate) }
            await entered.wait()
            group.addTask { try await gate.withPlace(at: a) {} }
            await waits.reaches()
            await #expect(throws: TooManyFetches.self) { try await gate.withPlace(at: a) {} }
            latch.open()
            try await group.waitForAll()
        }
        #expect(gate.occupancy == (0, 0))
    }

    @Test func aCallerCancelledWhileItWaitsGivesItsPlaceBack() async throws {
        let gate = gate(perHost: 1, depth: 1)
        let inside = Task { try await stay(in: gate) }
        await entered.wait()
        let waiting = Task { try await gate.withPlace(at: a) {} }
        await waits.reaches()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(gate.occupancy == (1, 0))
        latch.open()
        try await inside.value
        #expect(gate.occupancy == (0, 0))
    }

    @Test func aCallerWhoseWorkFailsLeavesToo() async {
        let gate = gate(perHost: 0, depth: 0)
        for _ in 0..<2 {
            await #expect(throws: FetchFailure.self) {
                _ = try await gate.withPlace(at: a) { throw FetchFailure(.unresolvable) }
            }
        }
        #expect(gate.occupancy == (0, 0))
    }

    @Test func aCallerCancelledBeforeItCameDoesNotEnter() async {
        let gate = gate(perHost: 0, depth: 0)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await gate.withPlace(at: a) { _ = Issue.record("entered") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
