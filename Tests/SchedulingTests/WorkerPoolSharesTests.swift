import Networking
import Scheduling
import TestPrimitives
import Testing

/// What one client may take of a pool, and in which order clients are taken.
@Suite(.timeLimit(.minutes(10))) struct WorkerPoolSharesTests {
    /// The address of a client; those of one `site` share a /48.
    private func client(_ number: Int, site: Int = 1) -> IPAddress {
        IPAddress(v6: 0x2001_0db8_0000_0000 + UInt64(site) << 16 + UInt64(number), 1)
    }

    /// How many places `clients` get, one after the other, while they keep them.
    private func places(
        in pool: WorkerPool, of clients: [IPAddress?], then body: () -> Void = {}
    ) -> Int {
        guard let first = clients.first, let place = try? pool.reserve(for: first) else {
            body()
            return 0
        }
        let count = 1 + places(in: pool, of: Array(clients.dropFirst()), then: body)
        withExtendedLifetime(place) {}
        return count
    }

    @Test func aClientHoldsAtMostAQuarterOfTheQueue() throws {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 16, retryAfter: .seconds(3))
        let one = client(1)
        let held = places(in: pool, of: Array(repeating: one, count: 18)) {
            let full = WorkerPool.Full(pool: "test", retryAfter: .seconds(3))
            #expect(throws: full) { _ = try pool.reserve(for: one) }
            #expect(pool.isFull(for: one))
            #expect(!pool.isFull(for: client(2)) && !pool.isFull(for: nil))
            #expect(throws: Never.self) { _ = try pool.reserve(for: client(2)) }
        }
        #expect(held == 4)
        // Its places were given back.
        #expect(places(in: pool, of: Array(repeating: one, count: 18)) == 4)
    }

    @Test func aSiteHoldsAtMostHalfOfTheQueue() {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 16)
        let held = places(in: pool, of: (0..<18).map { client($0) }) {
            #expect(pool.isFull(for: client(99)))
            #expect(!pool.isFull(for: client(99, site: 2)))
        }
        #expect(held == 8)
    }

    @Test func whereManyHoldTheirShareOneThatHoldsNoneFindsAPlace() {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 32)
        // Fourteen clients of as many sites, each of which takes what it gets.
        let flooding = (1...14).flatMap { site in
            Array(repeating: client(1, site: site), count: 34)
        }
        func take(_ clients: ArraySlice<IPAddress>) -> Int {
            guard let first = clients.first else {
                #expect(!pool.isFull(for: client(1, site: 99)))
                return 0
            }
            guard let place = try? pool.reserve(for: first) else {
                return take(clients.dropFirst())
            }
            let count = 1 + take(clients.dropFirst())
            withExtendedLifetime(place) {}
            return count
        }
        #expect((28..<34).contains(take(flooding[...])))
    }

    @Test func aSiteNeverHoldsEveryLaneOfAPoolWhoseWorkWaitsForOthers() {
        let pool = WorkerPool(name: "test", lanes: 8, depth: 64, shares: .ofLanes)
        #expect(places(in: pool, of: Array(repeating: client(1), count: 9)) == 2)
        #expect(places(in: pool, of: (0..<9).map { client($0) }) == 4)
    }

    @Test func theServersOwnWorkAndAPoolWithoutSharesHaveOnlyTheBoundOfThePool() {
        let pool = WorkerPool(name: "test", lanes: 2, depth: 16)
        #expect(places(in: pool, of: Array(repeating: nil, count: 20)) == 18)
        let open = WorkerPool(name: "test", lanes: 2, depth: 16, shares: .unlimited)
        #expect(places(in: open, of: Array(repeating: client(1), count: 20)) == 18)
    }

    @Test func everyClientMayHoldOnePlaceOfASmallPool() {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 0)
        #expect(places(in: pool, of: [client(1), client(1)]) == 1)
    }

    @Test func aQuietClientsJobRunsAfterAtMostTwoJobsOfAFloodingOne() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 64)
        let gate = Gate()
        let order = Record<String>()
        let (flooding, quiet) = (client(1), client(2, site: 2))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run(for: nil) { gate.hold() } }
            await gate.await()
            for _ in 0..<12 {
                group.addImmediateTask {
                    try await pool.run(for: flooding) { order.add("flooding") }
                }
            }
            group.addImmediateTask { try await pool.run(for: quiet) { order.add("quiet") } }
            #expect(pool.statistics.waiting == 13)
            gate.release()
            try await group.waitForAll()
        }
        #expect((0...2).contains(try #require(order.entries.firstIndex(of: "quiet"))))
        #expect(order.entries.count == 13)
    }

    @Test func aPlaceOfACancelledJobIsGivenBackToItsClient() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 4)
        let gate = Gate()
        let first = Task { try await pool.run(for: nil) { gate.hold() } }
        await gate.await()
        for _ in 0..<3 {
            let waiting = Task.immediate { try await pool.run(for: client(1)) {} }
            #expect(pool.isFull(for: client(1)))
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(!pool.isFull(for: client(1)))
        }
        gate.release()
        try await first.value
    }
}
