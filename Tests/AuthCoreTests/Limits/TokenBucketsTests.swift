import Networking
import TestSupport
import Testing

@testable import AuthCore

struct TokenBucketsTests {
    private let start = ContinuousClock.Instant(milliseconds: 1_800_000_000_000)

    /// An address of its own /64 in 2001:db8::/32.
    private func network(_ number: Int) -> IPAddress {
        IPAddress(v6: 0x2001_0db8_0000_0000 | UInt64(number), 0)
    }

    private func isDrawn(_ outcome: TokenBuckets.Outcome) -> Bool {
        if case .drawn = outcome { true } else { false }
    }

    @Test func aBucketGivesItsBurstAndThenItsRate() {
        var buckets = TokenBuckets(rate: .init(8, per: .seconds(1)), capacity: 10)
        var drawn = 0
        for millisecond in 0..<10_000 {
            let now = start.advanced(by: .milliseconds(millisecond))
            if isDrawn(buckets.draw(for: network(1), at: now)) { drawn += 1 }
        }
        #expect(drawn == 8 + 79)
    }

    /// Compared with a plain implementation that adds tokens as time passes.
    @Test func drawsAgreeWithABucketThatCountsTokens() {
        let random = SeededBytes(seed: 11)
        var buckets = TokenBuckets(rate: .init(4, per: .seconds(1), burst: 3), capacity: 10)
        var thousandths = 3000
        var last = start
        for _ in 0..<20_000 {
            let now = last.advanced(by: .milliseconds(random.below(500)))
            thousandths = min(3000, thousandths + 4 * Int(now.milliseconds - last.milliseconds))
            last = now
            let isExpected = thousandths >= 1000
            if isExpected { thousandths -= 1000 }
            #expect(isDrawn(buckets.draw(for: network(1), at: now)) == isExpected)
        }
    }

    @Test func theWaitIsTheSmallestSufficientTime() throws {
        var buckets = TokenBuckets(rate: .init(1, per: .seconds(8)), capacity: 10)
        #expect(isDrawn(buckets.draw(for: network(1), at: start)))
        let soon = start.advanced(by: .milliseconds(2500))
        guard case .empty(let wait) = buckets.draw(for: network(1), at: soon) else {
            Issue.record("drawn")
            return
        }
        #expect(wait == 5_500_000)
        let early = start.advanced(by: .milliseconds(7999))
        #expect(!isDrawn(buckets.draw(for: network(1), at: early)))
        let late = start.advanced(by: .seconds(8))
        #expect(isDrawn(buckets.draw(for: network(1), at: late)))
    }

    @Test func aTokenGivenBackCanBeDrawnAgain() {
        var buckets = TokenBuckets(rate: .init(1, per: .seconds(8)), capacity: 10)
        guard case .drawn(let draw) = buckets.draw(for: network(1), at: start) else {
            Issue.record("not drawn")
            return
        }
        #expect(!isDrawn(buckets.draw(for: network(1), at: start)))
        buckets.giveBack(draw)
        #expect(isDrawn(buckets.draw(for: network(1), at: start)))
        #expect(!isDrawn(buckets.draw(for: network(1), at: start)))
    }

    @Test func aTokenThatTimeHasReplacedIsNotGivenBack() {
        var buckets = TokenBuckets(rate: .init(1, per: .seconds(8)), capacity: 10)
        guard case .drawn(let draw) = buckets.draw(for: network(1), at: start) else {
            Issue.record("not drawn")
            return
        }
        let later = start.advanced(by: .seconds(9))
        #expect(isDrawn(buckets.draw(for: network(1), at: later)))
        buckets.giveBack(draw)
        #expect(!isDrawn(buckets.draw(for: network(1), at: later)))
    }

    @Test func onlyFullBucketsAreForgotten() {
        var buckets = TokenBuckets(rate: .init(3, per: .seconds(1)), capacity: 10)
        for second in 0..<100 {
            let now = start.advanced(by: .milliseconds(second * 999))
            let drawn = (0..<4).count { _ in isDrawn(buckets.draw(for: network(1), at: now)) }
            #expect(second == 0 ? drawn == 3 : (2...3).contains(drawn))
            #expect(!isDrawn(buckets.draw(for: network(1), at: now)))
        }
    }

    @Test func aClientWithAWholeSlash32CannotGrowTheTableResetABucketOrBlockOthers() {
        var buckets = TokenBuckets(rate: .init(1, per: .seconds(8)), capacity: 100)
        let victim = IPAddress(v4: 0xc000_0201)
        #expect(isDrawn(buckets.draw(for: victim, at: start)))
        var drawn = 0
        for number in 0..<100_000 where isDrawn(buckets.draw(for: network(number), at: start)) {
            drawn += 1
        }
        // Networks of its own, then some sites, then one region.
        #expect(drawn <= 100 + 25 + 1)
        #expect(buckets.count <= 150)
        #expect(!isDrawn(buckets.draw(for: victim, at: start)))
        #expect(isDrawn(buckets.draw(for: IPAddress(v4: 0xc633_6401), at: start)))
        let later = start.advanced(by: .seconds(16))
        #expect(isDrawn(buckets.draw(for: victim, at: later)))
        #expect(buckets.count == 1)
    }

    @Test func whenTheTableIsFullOfRegionsNewClientsAreNotCounted() {
        var buckets = TokenBuckets(rate: .init(1, per: .seconds(8)), capacity: 4)
        for region in 0..<50 {
            _ = buckets.draw(for: IPAddress(v4: 0x0a00_0001 + UInt32(region) << 16), at: start)
        }
        #expect(buckets.count <= 6)
        let newClient = IPAddress(v4: 0xc633_6401)
        guard case .uncounted = buckets.draw(for: newClient, at: start) else {
            Issue.record("counted")
            return
        }
        #expect(!isDrawn(buckets.draw(for: IPAddress(v4: 0x0a00_0001), at: start)))
    }

    @Test func anEarlierTimeAfterALaterOneDelaysNoClientLongerThanFillingABucket() {
        var buckets = TokenBuckets(rate: .init(2, per: .seconds(1)), capacity: 10)
        for second in 0..<3600 {
            let now = start.advanced(by: .milliseconds(second * 500))
            _ = buckets.draw(for: network(1), at: now)
        }
        for back in [Duration.seconds(1), .seconds(1000), .seconds(100_000)] {
            let earlier = start.advanced(by: .zero - back)
            _ = buckets.draw(for: network(1), at: earlier)
            let soon = earlier.advanced(by: .seconds(1))
            #expect(isDrawn(buckets.draw(for: network(1), at: soon)))
        }
    }

    @Test(arguments: [
        (Int.min, Duration.seconds(-1), Int.min), (.max, .seconds(Int64.max), .max), (0, .zero, 0),
        (1, .seconds(86_400), 1_000_000), (1_000_000, .nanoseconds(1), 1),
    ])
    func extremeRatesAndTimesDoNotTrap(count: Int, period: Duration, burst: Int) {
        var buckets = TokenBuckets(
            rate: .init(count, per: period, burst: burst), capacity: 1)
        for edge in [Int64.min, .min + 1, -1, 0, 1, .max - 1, .max, .min] {
            let now = ContinuousClock.Instant(milliseconds: edge)
            switch buckets.draw(for: network(1), at: now) {
            case .drawn(let draw): buckets.giveBack(draw)
            case .empty(let wait): #expect(wait > 0)
            case .uncounted: Issue.record("the table has space for one entry")
            }
            #expect(buckets.count <= 1)
        }
    }
}
