import Networking
import Testing

@testable import AuthCore

struct DifficultyGovernorTests {
    private let start = ContinuousClock.Instant(milliseconds: 1_800_000_000_000)
    private let frequent = IPAddress(v4: 0xc000_0201)
    private let rare = IPAddress(v4: 0xc633_6401)

    @Test func aClientThatAsksRarelyGetsTheBaseDifficulty() {
        let governor = DifficultyGovernor(settings: .init())
        #expect(governor.difficulty(for: rare, at: start) == 6)
    }

    @Test func aSiteThatAsksOftenGetsAHigherDifficultyAndOthersDoNot() {
        let governor = DifficultyGovernor(settings: .init())
        let last = request(governor, frequent, times: 200)
        #expect(last == 9)
        #expect(governor.difficulty(for: rare, at: start) == 6)
    }

    @Test func whatWasCountedCountsWithAnotherDifficulty() {
        let governor = DifficultyGovernor(settings: .init())
        #expect(request(governor, frequent, times: 200) == 9)
        let next = DifficultyGovernor(settings: .init(base: 8, maximum: 20), keeping: governor)
        #expect(next.difficulty(for: frequent, at: start) == 11)
        #expect(next.difficulty(for: rare, at: start) == 8)
        let other = DifficultyGovernor(
            settings: .init(siteRate: .init(1, per: .seconds(1))), keeping: governor)
        #expect(other.difficulty(for: frequent, at: start) == 6)
    }

    @Test func allAddressesOfASiteAreCountedTogether() {
        let governor = DifficultyGovernor(settings: .init())
        var last = 0
        for host in 0..<200 {
            last = governor.difficulty(for: IPAddress(v4: 0xc000_0200 + UInt32(host)), at: start)
        }
        #expect(last == 9)
    }

    @Test func manyRequestsFromAllSitesRaiseTheDifficultyForEveryClient() {
        let governor = DifficultyGovernor(settings: .init(serverAllowance: 1000))
        for site in 0..<3000 {
            let client = IPAddress(v4: 0x0a00_0001 + UInt32(site) << 8)
            _ = governor.difficulty(for: client, at: start)
        }
        #expect(governor.lowest(at: start) == 8)
        #expect(governor.lowest(at: start.advanced(by: .seconds(600))) == 6)
        #expect(governor.difficulty(for: rare, at: start) == 8)
    }

    /// Two seconds of requests as fast as they can be sent, each from another /64 of one /48.
    @Test func aSiteAddsToTheCountOfAllWhatOneClientMaySend() {
        let rate = RateLimiter.Rate(8, per: .seconds(1))
        let governor = DifficultyGovernor(settings: .init(serverAllowance: 32, siteRate: rate))
        var last = 0
        for number in 0..<16_000 {
            last = governor.difficulty(
                for: IPAddress(v6: 0x2001_0db8_0000_0000 + UInt64(number), 1),
                at: start.advanced(by: .milliseconds(number / 8)))
        }
        // The site itself gets the highest difficulty.
        #expect(last == 10)
        let later = start.advanced(by: .seconds(2))
        #expect(governor.difficulty(for: rare, at: later) == 6)
        // Three sites at that rate exceed the allowance.
        for number in 0..<32 {
            for site in 1...2 {
                let client = IPAddress(v4: UInt32(site) << 8)
                _ = governor.difficulty(
                    for: client, at: later.advanced(by: .milliseconds(number * 125)))
            }
        }
        #expect(governor.difficulty(for: rare, at: later.advanced(by: .seconds(4))) > 6)
    }

    @Test func theDifficultyNeverExceedsTheMaximum() {
        let governor = DifficultyGovernor(settings: .init(base: 6, maximum: 8, siteAllowance: 1))
        #expect(request(governor, frequent, times: 5000) == 8)
    }

    @Test func theDifficultyFallsAgainWhenRequestsStop() {
        let governor = DifficultyGovernor(settings: .init())
        #expect(request(governor, frequent, times: 200) > 6)
        let later = start.advanced(by: .seconds(300))
        #expect(governor.difficulty(for: frequent, at: later) == 6)
    }

    @Test func theAllowanceItselfDoesNotRaiseTheDifficulty() {
        let governor = DifficultyGovernor(settings: .init(siteAllowance: 32))
        #expect(request(governor, frequent, times: 32) == 6)
        #expect(request(governor, frequent, times: 1) == 7)
    }

    @Test func theDifficultyIsTheBaseAfterAnyTimeWithoutRequests() {
        let governor = DifficultyGovernor(settings: .init())
        #expect(request(governor, frequent, times: 200) > 6)
        for halfLives in [63, 64, 65, 100, 100_000] {
            let later = start.advanced(by: .seconds(60 * halfLives))
            #expect(governor.lowest(at: later) == 6)
        }
        let later = start.advanced(by: .seconds(6000))
        #expect(governor.difficulty(for: frequent, at: later) == 6)
    }

    @Test func extremeTimesDoNotTrap() {
        let governor = DifficultyGovernor(settings: .init())
        _ = governor.difficulty(for: rare, at: start)
        let earlier = ContinuousClock.Instant(milliseconds: .min)
        #expect(governor.difficulty(for: rare, at: earlier) == 6)
        #expect(
            governor.difficulty(for: rare, at: ContinuousClock.Instant(milliseconds: .max)) == 6)
    }

    private func request(_ governor: DifficultyGovernor, _ client: IPAddress, times: Int) -> Int {
        var last = 0
        for _ in 0..<times { last = governor.difficulty(for: client, at: start) }
        return last
    }
}
