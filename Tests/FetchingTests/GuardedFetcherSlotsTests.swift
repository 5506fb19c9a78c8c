import Networking
import TestPrimitives
import Testing

@testable import Fetching

/// Which fetches count together: for their target, their client and their site.
@Suite(.timeLimit(.minutes(10))) struct GuardedFetcherSlotsTests {
    private static let second = IPAddress(v4: 0x7f00_0002)

    private let gate = Gate()
    private let waits = Level()

    /// The address of a client; those of one `site` share a /48.
    private func client(_ number: Int = 1, site: Int) -> IPAddress {
        IPAddress(v6: 0x2001_0db8_0000_0000 + UInt64(site) << 16 + UInt64(number), 1)
    }

    /// A host on 127.0.0.1 that answers when the gate is opened.
    private func heldHost() -> Listener { Listener(heldBy: gate) }

    private func fetcher(
        _ change: (inout FetchLimits) -> Void, lookUp: @escaping GuardedFetcher.Lookup
    ) -> GuardedFetcher {
        let waits = waits
        return GuardedFetcher(rules: .local(change), lookUp: lookUp, onWait: { waits.raise() })
    }

    private func begin(
        _ name: String, _ listener: Listener, by fetcher: GuardedFetcher, for client: IPAddress
    ) -> Task<[UInt8], any Error> {
        Task {
            let target = try FetchTarget("http://\(name):\(listener.port)/", under: .local())
            return try await fetcher.fetch(target, for: client, by: .now + .seconds(300))
        }
    }

    @Test func manyNamesOfOneAddressShareItsSlots() async throws {
        let inside = Tally()
        let host = Listener(countingIn: inside)
        let fetcher = fetcher({ _ in }, lookUp: { _ in [.loopback] })
        let tasks = (0..<8).map { number in
            begin("n\(number).test", host, by: fetcher, for: client(site: number))
        }
        for task in tasks { #expect(try await task.value == []) }
        #expect(inside.most == 2)
    }

    /// Otherwise the owner of a name could list the address of another host beside its own, and
    /// answer slowly itself.
    @Test func aFetchTakesNoSlotOfAnAddressThatItIsNotConnectingTo() async throws {
        let held = heldHost()
        let prompt = Listener(on: Self.second, port: held.port, answer: Listener.ok)
        let fetcher = fetcher({ $0.perTarget = 1 }) { name in
            name == "evil.test" ? [.loopback, Self.second] : [Self.second]
        }
        let slow = begin("evil.test", held, by: fetcher, for: client(site: 1))
        await gate.await()
        let other = begin("good.test", prompt, by: fetcher, for: client(site: 2))
        #expect(try await other.value == [])
        gate.release()
        #expect(try await slow.value == [])
        #expect(waits.value == 0)
    }

    @Test func oneSiteLeavesASlotOfATargetToOthers() async throws {
        let held = heldHost()
        let fetcher = fetcher({ $0.perTargetAndSite = 1 }, lookUp: { _ in [.loopback] })
        let first = begin("a.test", held, by: fetcher, for: client(1, site: 1))
        await gate.await()
        let neighbours = (2...5).map { number in
            begin("a.test", held, by: fetcher, for: client(number, site: 1))
        }
        await waits.reaches(4)
        // It runs although four came before it.
        let other = begin("a.test", held, by: fetcher, for: client(site: 2))
        await gate.await(2)
        #expect(held.visits == 2)
        gate.release(6)
        for task in [first, other] + neighbours { #expect(try await task.value == []) }
    }

    @Test func aClientRunsOneFetchAndASiteTwoWhereTheyAreBounded() async throws {
        let held = heldHost()
        let fetcher = fetcher(
            {
                $0.perTarget = 9
                $0.perClient = 1
                $0.perSite = 2
            }, lookUp: { _ in [.loopback] })
        var tasks = [begin("a.test", held, by: fetcher, for: client(1, site: 1))]
        await gate.await()
        tasks.append(begin("b.test", held, by: fetcher, for: client(1, site: 1)))
        await waits.reaches(1)
        tasks.append(begin("c.test", held, by: fetcher, for: client(2, site: 1)))
        await gate.await(2)
        tasks.append(begin("d.test", held, by: fetcher, for: client(3, site: 1)))
        await waits.reaches(2)
        tasks.append(begin("e.test", held, by: fetcher, for: client(1, site: 2)))
        await gate.await(3)
        #expect(held.visits == 3)
        gate.release(5)
        for task in tasks { #expect(try await task.value == []) }
    }

    /// An address that accepts connections and does not answer in TLS counts as one that cannot be
    /// connected to, so that the next one is tried; the last one has all of the time.
    @Test(arguments: [(false, FetchError.Cause.unreachable), (true, .timedOut)])
    func connectingTakesHalfOfTheTimeWhereThereIsAnotherAddress(
        isLast: Bool, cause: FetchError.Cause
    ) async throws {
        let silent = Listener { connection in _ = Listener.read(connection, count: 100_000) }
        let transfer = GuardedTransfer(
            target: try FetchTarget("https://a.test:\(silent.port)/", under: .local()),
            address: .loopback, isLast: isLast, rules: .local(), trust: .builtIn,
            deadline: .now + .seconds(4))
        await #expect(throws: FetchError(cause)) {
            try await onOwnThread { try transfer.get() }
        }
        #expect(silent.visits == 1)
    }
}
