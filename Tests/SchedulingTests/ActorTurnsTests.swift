import Networking
import Scheduling
import TestPrimitives
import Testing

@Suite(.timeLimit(.minutes(10))) struct ActorTurnsTests {
    private struct Failed: Error {}

    /// An actor that runs its jobs in the order of their arrival.
    private actor Worker {
        private let executor = QueueExecutor(label: "worker")
        private let turns: ActorTurns
        private(set) var log: [String] = []
        private var tasks: [String: Task<Void, any Error>] = [:]

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }

        init(_ turns: ActorTurns) { self.turns = turns }

        func note(_ text: String) { log.append(text) }

        /// Begins pieces of work in one turn of the actor. Each notes its name, and has the actor
        /// note it once more in a job of its own.
        func begin(
            _ pieces: [(name: String, client: IPAddress?)], cancelling: Set<String> = [],
            failing: Set<String> = []
        ) {
            for (name, client) in pieces {
                tasks[name] = Task.immediate {
                    try await turns.run(for: client, on: self) {
                        log.append(name)
                        Task { note("after \(name)") }
                        if failing.contains(name) { throw Failed() }
                    }
                }
            }
            for name in cancelling { tasks[name]?.cancel() }
        }

        func outcome(_ name: String) async -> Result<Void, any Error>? {
            await tasks[name]?.result
        }
    }

    private let turns = ActorTurns()
    private let here = IPAddress(v4: 0x0a00_0001)
    private let there = IPAddress(v4: 0x0b00_0001)

    @Test func whatWaitsForTheActorRunsBetweenTwoPieces() async {
        let worker = Worker(turns)
        await worker.begin([("a", here), ("b", here), ("c", here)])
        for name in ["a", "b", "c"] { _ = await worker.outcome(name) }
        await worker.note("end")
        #expect(await worker.log.prefix(5) == ["a", "after a", "b", "after b", "c"])
    }

    @Test func clientsTakeTurnsInTheQueue() async {
        let worker = Worker(turns)
        let many = (1...6).map { (name: "a\($0)", client: Optional(here)) }
        await worker.begin([("first", nil)] + many + [("b", there)])
        for name in many.map(\.name) { _ = await worker.outcome(name) }
        let order = await worker.log.filter { !$0.hasPrefix("after") }
        #expect(order.filter { $0.hasPrefix("a") } == many.map(\.name))
        #expect((order.firstIndex(of: "b") ?? .max) <= 3)
    }

    @Test func oneThatIsCancelledWhileItWaitsLeavesTheQueue() async {
        let worker = Worker(turns)
        await worker.begin([("a", here), ("b", here), ("c", here)], cancelling: ["b"])
        await #expect(throws: CancellationError.self) { try await worker.outcome("b")?.get() }
        await #expect(throws: Never.self) { try await worker.outcome("c")?.get() }
        #expect(await worker.log.filter { !$0.hasPrefix("after") } == ["a", "c"])
    }

    @Test func workThatFailsPassesTheTurnOn() async {
        let worker = Worker(turns)
        await worker.begin([("a", here), ("b", here), ("c", here)], failing: ["a", "b"])
        await #expect(throws: Failed.self) { try await worker.outcome("a")?.get() }
        await #expect(throws: Failed.self) { try await worker.outcome("b")?.get() }
        await #expect(throws: Never.self) { try await worker.outcome("c")?.get() }
    }

    @Test func actorsDoNotWaitForEachOther() async {
        let (one, other) = (Worker(turns), Worker(turns))
        await one.begin([("a", here), ("b", here)])
        await other.begin([("c", here)])
        for name in ["a", "b"] { _ = await one.outcome(name) }
        _ = await other.outcome("c")
        #expect(await other.log.first == "c")
    }

    @Test func nothingIsKeptWhenNobodyWorks() async {
        let worker = Worker(turns)
        await worker.begin([("a", here), ("b", here)], cancelling: ["b"])
        #expect(turns.occupancy.waiting == 0)
        _ = await worker.outcome("a")
        // The turn ends after the jobs that waited for the actor then, this one at the latest.
        for _ in 0..<3 { await worker.note("later") }
        #expect(turns.occupancy == (0, 0))
    }
}
