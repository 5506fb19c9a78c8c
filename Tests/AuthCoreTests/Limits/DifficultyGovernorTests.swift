import AuthCore
import Networking
import Testing

struct DifficultyGovernorTests {
    private let start = Instant(seconds: 1_800_000_000)
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
        #expect(governor.difficulty(for: rare, at: start) == 8)
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

    @Test func aClockThatStepsBackDoesNotTrap() {
        let governor = DifficultyGovernor(settings: .init())
        _ = governor.difficulty(for: rare, at: start)
        let earlier = Instant(milliseconds: .min)
        #expect(governor.difficulty(for: rare, at: earlier) == 6)
        #expect(governor.difficulty(for: rare, at: Instant(milliseconds: .max)) == 6)
    }

    private func request(_ governor: DifficultyGovernor, _ client: IPAddress, times: Int) -> Int {
        var last = 0
        for _ in 0..<times { last = governor.difficulty(for: client, at: start) }
        return last
    }
}
