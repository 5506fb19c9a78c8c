import Networking
import TestPrimitives
import Testing

@testable import Fetching

/// Which fetches wait for which: a slow host, look-up or thread delays no other host.
@Suite(.timeLimit(.minutes(10))) struct GuardedFetcherLoadTests {
    private static let loopback: GuardedFetcher.Lookup = { name in
        [name == "b.test" ? IPAddress(v4: 0x7f00_0002) : .loopback]
    }

    private let prompt = Listener(on: IPAddress(v4: 0x7f00_0002), answer: Listener.ok)
    private let gate: Gate
    /// Answers each fetch when the gate is opened for it.
    private let held: Listener

    init() {
        gate = Gate()
        held = Listener(heldBy: gate)
    }

    private func target(_ name: String, _ listener: Listener) throws -> FetchTarget {
        try FetchTarget("http://\(name):\(listener.port)/", under: .local())
    }

    @Test func twoFetchesOfOneHostRunAndAThirdWaits() async throws {
        let inside = Tally()
        let host = Listener(countingIn: inside)
        let fetcher = GuardedFetcher(rules: .local(), lookUp: Self.loopback)
        let target = try target("a.test", host)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    _ = try await fetcher.fetch(target, for: .loopback, by: .now + .seconds(300))
                }
            }
            try await group.waitForAll()
        }
        #expect(inside.most == 2)
        #expect(host.visits == 8)
    }

    @Test func aWaitingFetchEndsAtItsDeadline() async throws {
        let fetcher = GuardedFetcher(rules: .local(), lookUp: Self.loopback)
        let target = try target("a.test", held)
        let slow = (0..<2).map { _ in
            Task { try await fetcher.fetch(target, for: .loopback, by: .now + .seconds(300)) }
        }
        await gate.await(2)
        // Both are still held when its time is over.
        await #expect(throws: FetchError(.timedOut)) {
            try await fetcher.fetch(target, for: .loopback, by: .now + .milliseconds(50))
        }
        #expect(held.visits == 2)
        gate.release(2)
        for task in slow { #expect(try await task.value == []) }
    }

    @Test func aSilentHostDelaysNoOtherHost() async throws {
        let fetcher = GuardedFetcher(rules: .local(), lookUp: Self.loopback)
        let slow = try target("a.test", held)
        let tasks = (0..<10).map { _ in
            Task { try await fetcher.fetch(slow, for: .loopback, by: .now + .seconds(300)) }
        }
        await gate.await(2)
        #expect(
            try await fetcher.fetch(
                target("b.test", prompt), for: .loopback, by: .now + .seconds(300)) == [])
        gate.release(10)
        for task in tasks { #expect(try await task.value == []) }
    }

    @Test func aFetchIsRejectedWhenEveryThreadIsBusyAndTheQueueIsFull() async throws {
        let rules = FetchRules.local {
            $0.transfers = 1
            $0.waiting = 0
        }
        let fetcher = GuardedFetcher(rules: rules, lookUp: Self.loopback)
        let slow = try target("a.test", held)
        let task = Task { try await fetcher.fetch(slow, for: .loopback, by: .now + .seconds(300)) }
        await gate.await()
        await #expect(throws: TooManyFetches(queue: "transfer")) {
            try await fetcher.fetch(
                target("b.test", prompt), for: .loopback, by: .now + .seconds(300))
        }
        #expect(fetcher.isFull(for: .loopback))
        #expect(prompt.visits == 0)
        gate.release()
        #expect(try await task.value == [])
    }

    @Test func aFetchWaitsForAThread() async throws {
        let rules = FetchRules.local {
            $0.transfers = 1
            $0.waiting = 1
        }
        // The first client holds its share, which is one.
        let other = IPAddress(v4: 0xc000_0201)
        let fetcher = GuardedFetcher(rules: rules, lookUp: Self.loopback)
        let (slow, next) = try (target("a.test", held), target("b.test", prompt))
        async let first = fetcher.fetch(slow, for: .loopback, by: .now + .seconds(300))
        await gate.await()
        #expect(!fetcher.isFull(for: other))
        async let second = fetcher.fetch(next, for: other, by: .now + .seconds(300))
        // The second is in the queue now.
        while !fetcher.isFull(for: other) { await Task.yield() }
        #expect(prompt.visits == 0)
        gate.release()
        let bodies = try await [first, second]
        #expect(bodies == [[], []])
    }

    @Test func aFetchCancelledWhileItWaitsGivesItsPlaceBack() async throws {
        let rules = FetchRules.local {
            $0.perTarget = 1
            $0.waitingPerSlot = 1
        }
        let waits = Level()
        let fetcher = GuardedFetcher(
            rules: rules, lookUp: Self.loopback, onWait: { waits.raise() })
        let slow = try target("a.test", held)
        let first = Task { try await fetcher.fetch(slow, for: .loopback, by: .now + .seconds(300)) }
        await gate.await()
        // The second finds a place only if the first has given it back.
        for number in 1...2 {
            let waiting = Task {
                try await fetcher.fetch(slow, for: .loopback, by: .now + .seconds(300))
            }
            await waits.reaches(number)
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        gate.release()
        #expect(try await first.value == [])
        #expect(held.visits == 1)
    }

    @Test func aClientWhoseLookUpsHangHasAShareOfThem() async throws {
        let gate = Gate()
        let fetcher = GuardedFetcher(rules: .local { $0.lookups = 8 }) { name in
            if name != "b.test" { gate.hold() }
            return [IPAddress(v4: 0x7f00_0002)]
        }
        let hanging = try ["x.test", "y.test"].map { try target($0, prompt) }
        let tasks = hanging.map { target in
            Task { try await fetcher.fetch(target, for: .loopback, by: .now + .seconds(300)) }
        }
        await gate.await(2)
        await #expect(throws: TooManyFetches(queue: "lookup")) {
            try await fetcher.fetch(
                target("z.test", prompt), for: .loopback, by: .now + .seconds(5))
        }
        let other = IPAddress(v4: 0xc000_0201)
        #expect(
            try await fetcher.fetch(
                target("b.test", prompt), for: other, by: .now + .seconds(300)) == [])
        gate.release(2)
        for task in tasks { #expect(try await task.value == []) }
    }

    @Test func aLookUpThatHangsDelaysNeitherItsCallerNorOtherHosts() async throws {
        let gate = Gate()
        let listener = prompt
        let fetcher = GuardedFetcher(rules: .local()) { name in
            if name == "hangs.test" { gate.hold() }
            return [IPAddress(v4: 0x7f00_0002)]
        }
        let target = try target("hangs.test", listener)
        await #expect(throws: FetchError(.timedOut)) {
            try await fetcher.fetch(target, for: .loopback, by: .now + .milliseconds(50))
        }
        #expect(
            try await fetcher.fetch(
                self.target("b.test", prompt), for: .loopback, by: .now + .seconds(300)) == [])
        #expect(prompt.visits == 1)
        gate.release()
    }
}
