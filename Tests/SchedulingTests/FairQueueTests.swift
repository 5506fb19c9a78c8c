import Networking
import Testing

@testable import Scheduling

struct FairQueueTests {
    private static let one = IPAddress(v4: 0xc000_0201)
    /// Another client of the same site.
    private static let neighbour = IPAddress(v4: 0xc000_0202)
    private static let other = IPAddress(v4: 0xc633_6401)

    private func queue(_ jobs: [(String, IPAddress?)]) -> FairQueue<String> {
        var queue = FairQueue<String>()
        for (ticket, job) in jobs.enumerated() {
            queue.append(job.0, ticket: UInt64(ticket), of: job.1)
        }
        return queue
    }

    private func order(_ queue: FairQueue<String>) -> [String] {
        var queue = queue
        var order: [String] = []
        while let job = queue.popFirst() { order.append(job) }
        #expect(queue.count == 0)
        return order
    }

    @Test func theJobsOfOneClientRunInTheOrderOfTheirArrival() {
        #expect(
            order(queue([("a", Self.one), ("b", Self.one), ("c", Self.one)])) == ["a", "b", "c"])
    }

    @Test func aClientWithOneJobWaitsForAtMostTwoJobsOfAClientWithMany() {
        let many = (0..<50).map { ("\($0)", Self.one) as (String, IPAddress?) }
        let order = order(queue(many + [("quiet", Self.other)]))
        #expect(order.prefix(4) == ["0", "1", "quiet", "2"])
        #expect(order.count == 51)
    }

    /// Those that have had a turn are in another list than the one that has just come.
    @Test(arguments: [true, false])
    func aClientThatComesBesideManyFloodingOnesIsTakenNext(areOfOneSite: Bool) {
        var queue = FairQueue<String>()
        func flood() {
            for client in 0..<14 {
                let step: UInt64 = areOfOneSite ? 1 : 0x1_0000
                let address = IPAddress(v6: 0x2001_0db8_0000_0000 + UInt64(client) * step, 1)
                for job in 0..<20 {
                    queue.append("flood", ticket: UInt64(client * 20 + job), of: address)
                }
            }
        }
        flood()
        for _ in 0..<60 { #expect(queue.popFirst() == "flood") }
        for number in 0..<5 {
            let quiet = IPAddress(v6: 0x2001_0db8_0000_8000 + (areOfOneSite ? 0 : 1 << 32), 1)
            queue.append("quiet", ticket: UInt64(1000 + number), of: quiet)
            let next = [queue.popFirst(), queue.popFirst()]
            #expect(next.contains("quiet") && next.contains("flood"))
        }
    }

    @Test func thoseThatHaveHadATurnAreNotKeptWaitingByThoseThatCome() {
        var queue = queue((0..<8).map { _ in ("old", Self.one) })
        #expect(queue.popFirst() == "old")
        var order: [String?] = []
        for number in 0..<6 {
            let new = IPAddress(v6: 0x2001_0db8_0000_0000 + UInt64(number) << 16, 1)
            queue.append("new", ticket: UInt64(100 + number), of: new)
            order.append(queue.popFirst())
        }
        #expect(order.count { $0 == "old" } == 3)
    }

    @Test func sitesAreTakenInTurnAndThenTheClientsOfASite() {
        let order = order(
            queue([
                ("a1", Self.one), ("a2", Self.one), ("b1", Self.neighbour), ("b2", Self.neighbour),
                ("c1", Self.other), ("c2", Self.other), ("c3", Self.other),
            ]))
        #expect(order == ["a1", "a2", "c1", "b1", "c2", "b2", "c3"])
    }

    @Test func aSiteWithManyClientsGetsNoMoreTurnsThanASiteWithOne() {
        let crowd = (0..<60).map { number in
            ("crowd", IPAddress(v6: 0x2001_0db8_0000_0000 + UInt64(number), 1))
                as (String, IPAddress?)
        }
        let order = order(queue(crowd + [("quiet", Self.other), ("quiet", Self.other)]))
        #expect(order.prefix(5).count { $0 == "quiet" } == 2)
    }

    @Test func theServersOwnWorkIsTakenInTurnWithTheClients() {
        let many = (0..<50).map { _ in ("client", Self.one) as (String, IPAddress?) }
        let order = order(queue(many + [("own", nil), ("own", nil)]))
        #expect(order.prefix(6).count { $0 == "own" } == 2)
    }

    @Test func aJobThatIsRemovedIsNotRunAndItsClientKeepsItsTurn() {
        var queue = queue([
            ("a1", Self.one), ("a2", Self.one), ("b1", Self.neighbour), ("c1", Self.other),
        ])
        #expect(queue.remove(0, of: Self.one) == "a1")
        #expect(queue.remove(0, of: Self.one) == nil)
        #expect(queue.remove(1, of: Self.other) == nil)
        #expect(queue.remove(2, of: Self.neighbour) == "b1")
        #expect(queue.count == 2)
        queue.append("c2", ticket: 9, of: Self.other)
        #expect(order(queue) == ["a2", "c1", "c2"])
    }

    @Test func aJobThatIsRemovedAsATurnPutsItsClientAndSiteLast() {
        var queue = queue([
            ("a1", Self.one), ("a2", Self.one), ("b1", Self.neighbour), ("c1", Self.other),
        ])
        #expect(queue.remove(0, of: Self.one, takesTurn: true) == "a1")
        #expect(queue.remove(3, of: Self.other, takesTurn: true) == "c1")
        #expect(order(queue) == ["b1", "a2"])
    }

    @Test func afterTheLastJobOfASiteIsRemovedTheSiteTakesATurnAgainWhenItHasOne() {
        var queue = queue([("a1", Self.one), ("c1", Self.other)])
        #expect(queue.remove(0, of: Self.one) == "a1")
        queue.append("a2", ticket: 9, of: Self.one)
        #expect(order(queue) == ["c1", "a2"])
    }
}
