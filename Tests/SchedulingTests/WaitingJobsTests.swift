import Networking
import TestPrimitives
import Testing

@testable import Scheduling

/// Which jobs run in one pass, and in which order. A job of batch `a` is named `a1`, a single job
/// `.1`.
struct WaitingJobsTests {
    private final class Kind: Sendable {}

    private static let one = IPAddress(v4: 0xc000_0201)
    private static let other = IPAddress(v4: 0xc633_6401)
    private static let third = IPAddress(v4: 0xcb00_7101)

    private let kinds: [Character: Kind] = ["a": Kind(), "b": Kind()]
    private let passes = Record<[String]>()

    private func job(_ name: String, limit: Int) -> PoolJob {
        guard let key = UInt64(name.dropFirst()), let letter = name.first,
            let kind = kinds[letter]
        else {
            return PoolJob(work: .single({ passes.add([name]) }), cancel: {})
        }
        let batch = Batch(
            id: ObjectIdentifier(kind), limit: limit,
            run: { keys in passes.add(keys.map { "\(letter)\($0)" }) })
        return PoolJob(work: .batched(batch, key: key), cancel: { passes.add(["-\(name)"]) })
    }

    private func waiting(_ jobs: [(String, IPAddress?)], limit: Int = 4) -> WaitingJobs {
        var waiting = WaitingJobs()
        for (ticket, (name, client)) in jobs.enumerated() {
            waiting.append(job(name, limit: limit), ticket: UInt64(ticket), of: client)
        }
        return waiting
    }

    /// Runs everything, pass by pass.
    private func run(_ waiting: WaitingJobs) -> [[String]] {
        var waiting = waiting
        while let pass = waiting.popPass() { pass.run(0) }
        #expect(waiting.count == 0)
        return passes.entries
    }

    @Test func inputsOfOneBatchRunTogetherUpToItsLimit() {
        let jobs = (1...6).map { ("a\($0)", Self.one) as (String, IPAddress?) }
        #expect(run(waiting(jobs)) == [["a1", "a2", "a3", "a4"], ["a5", "a6"]])
    }

    @Test func singleJobsAndOtherBatchesDoNotJoin() {
        let jobs = ["a1", ".1", "b1", "a2", "b2", ".2"].map { ($0, Self.one as IPAddress?) }
        #expect(run(waiting(jobs)) == [["a1", "a2"], [".1"], ["b1", "b2"], [".2"]])
    }

    @Test func amongThoseThatJoinSitesAreTakenInTurn() {
        let flood = (1...9).map { ("a\($0)", Self.one) as (String, IPAddress?) }
        let passes = run(waiting(flood + [("a10", Self.other), ("a11", Self.third)]))
        #expect(passes[0].first == "a1")
        #expect(passes[0].contains("a10") && passes[0].contains("a11"))
    }

    /// Batches of a flooding site do not delay it for more passes than single jobs would.
    @Test func aJobOfAnotherKindWaitsForAtMostTwoPasses() {
        let flood = (1...50).map { ("a\($0)", Self.one) as (String, IPAddress?) }
        let passes = run(waiting(flood + [(".1", Self.other)]))
        #expect(passes.prefix(3).contains([".1"]))
    }

    /// Those that join in each pass come from sites that have not had their turn yet.
    @Test(arguments: [1, 2, 3])
    func aJobThatOthersHavePassedKeepsItsTurn(position: Int) {
        var jobs = (0..<20).map { number in
            ("a\(number)", IPAddress(v6: 0x2001_0db8_0000_0000 + UInt64(number) << 16, 1))
                as (String, IPAddress?)
        }
        jobs.insert((".1", Self.one), at: position)
        let passes = run(waiting(jobs))
        #expect(passes[1] == [".1"] || passes[position] == [".1"])
        #expect(passes.flatMap { $0 }.count == 21)
        #expect(passes.count == 6)
    }

    @Test func anInputThatIsRemovedDoesNotRun() {
        var jobs = waiting(["a1", "a2", "a3"].map { ($0, Self.one) })
        jobs.remove(1, of: Self.one)?.cancel()
        let again = jobs.remove(1, of: Self.one)
        #expect(again == nil && jobs.count == 2)
        #expect(run(jobs) == [["-a2"], ["a1", "a3"]])
    }

    @Test func anInputThatHasJoinedAPassCannotBeRemoved() {
        var jobs = waiting([("a1", Self.one), ("a2", Self.other)])
        let pass = jobs.popPass()
        let removed = jobs.remove(1, of: Self.other)
        #expect(removed == nil && jobs.count == 0)
        pass?.run(0)
        #expect(passes.entries == [["a1", "a2"]])
    }

    @Test func aBatchGoesOnWithInputsThatComeLater() {
        var jobs = waiting([("a1", Self.one)])
        jobs.popPass()?.run(0)
        jobs.append(job("a2", limit: 4), ticket: 8, of: Self.one)
        jobs.append(job("a3", limit: 4), ticket: 9, of: Self.other)
        #expect(run(jobs) == [["a1"], ["a2", "a3"]])
    }
}
