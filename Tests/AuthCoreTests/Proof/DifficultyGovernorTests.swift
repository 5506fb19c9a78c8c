import AuthCore
import Testing

struct DifficultyGovernorTests {
    private let start = Instant(seconds: 1_800_000_000)
    private let busy = ClientAddress(bytes: [192, 0, 2, 1])
    private let quiet = ClientAddress(bytes: [198, 51, 100, 1])

    @Test func aQuietClientIsAskedForTheBase() {
        let governor = DifficultyGovernor(settings: .init())
        #expect(governor.difficulty(for: quiet, at: start) == 6)
    }

    @Test func aBusySiteIsAskedForMoreAndItsNeighboursAreNot() {
        let governor = DifficultyGovernor(settings: .init())
        let last = ask(governor, busy, times: 200)
        #expect(last == 9)
        #expect(governor.difficulty(for: quiet, at: start) == 6)
    }

    @Test func aSiteIsCountedAsOneHoweverManyAddressesItUses() {
        let governor = DifficultyGovernor(settings: .init())
        var last = 0
        for host in 0..<200 {
            let client = ClientAddress(bytes: [192, 0, 2, UInt8(host)])
            last = governor.difficulty(for: client, at: start)
        }
        #expect(last == 9)
    }

    @Test func manySitesTogetherRaiseItForEverybody() {
        let governor = DifficultyGovernor(settings: .init(serverAllowance: 1000))
        for site in 0..<3000 {
            let bytes: [UInt8] = [10, UInt8(site >> 8), UInt8(site & 0xff), 1]
            _ = governor.difficulty(for: ClientAddress(bytes: bytes), at: start)
        }
        #expect(governor.difficulty(for: quiet, at: start) == 8)
    }

    @Test func itNeverPassesTheMaximum() {
        let governor = DifficultyGovernor(settings: .init(base: 6, maximum: 8, siteAllowance: 1))
        #expect(ask(governor, busy, times: 5000) == 8)
    }

    @Test func itFallsBackWhenTheyStop() {
        let governor = DifficultyGovernor(settings: .init())
        #expect(ask(governor, busy, times: 200) > 6)
        let later = start.advanced(by: .seconds(300))
        #expect(governor.difficulty(for: busy, at: later) == 6)
    }

    @Test func aClockThatStepsBackTrapsNothing() {
        let governor = DifficultyGovernor(settings: .init())
        _ = governor.difficulty(for: quiet, at: start)
        let earlier = Instant(milliseconds: .min)
        #expect(governor.difficulty(for: quiet, at: earlier) == 6)
        #expect(governor.difficulty(for: quiet, at: Instant(milliseconds: .max)) == 6)
    }

    private func ask(_ governor: DifficultyGovernor, _ client: ClientAddress, times: Int) -> Int {
        var last = 0
        for _ in 0..<times { last = governor.difficulty(for: client, at: start) }
        return last
    }
}
