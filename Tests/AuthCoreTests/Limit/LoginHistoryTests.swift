import TestSupport
import Testing

@testable import AuthCore

struct LoginHistoryTests {
    private let start = Instant(seconds: 1_800_000_000)
    private let account = LoginHistory.AccountKey(high: 1, low: 1)

    private func account(_ number: Int) -> LoginHistory.AccountKey {
        .init(high: 2, low: UInt64(number))
    }

    private func network(_ number: Int) -> ClientNetwork {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
        return ClientAddress(bytes: bytes).subscriber
    }

    private func isAdmitted(_ wait: Int64) -> Bool { wait == 0 }

    private func at(_ seconds: Int64) -> Instant { start.advanced(by: .seconds(seconds)) }

    @Test func itNeverHoldsMoreThanItsCapacity() {
        var history = LoginHistory(settings: .init(capacity: 100))
        for number in 0..<20_000 {
            history.recordFailure(
                account(number), secret: 1, from: network(number), at: at(Int64(number / 1000)))
            history.recordSuccess(account(number), from: network(number), at: start)
            #expect(history.count <= 4 * 102)
        }
    }

    @Test func attemptsWithoutAVerdictLeaveNoTrace() {
        var history = LoginHistory(settings: .init())
        for number in 0..<10_000 {
            #expect(isAdmitted(history.admit(account(number), from: network(number), at: start)))
        }
        #expect(history.count == 0)
    }

    @Test func anAccountKnowsTheLastEightNetworksThatOpenedIt() {
        var history = LoginHistory(settings: .init(accountFreeTries: 1))
        for number in 1...9 { history.recordSuccess(account, from: network(number), at: start) }
        for number in 100..<110 {
            history.recordFailure(
                account, secret: UInt64(number), from: network(number), at: start)
        }
        for number in 1...9 {
            history.recordFailure(account, secret: 7, from: network(number), at: start)
            let wait = history.admit(account, from: network(number), at: start)
            #expect((wait > 0) == (number == 1))
        }
    }

    @Test func failuresOfLongAgoAreForgottenWithTheirEntry() {
        var history = LoginHistory(settings: .init())
        for secret: UInt64 in 1...50 {
            history.recordFailure(account, secret: secret, from: network(1), at: start)
        }
        let wait = history.admit(account, from: network(1), at: start)
        #expect(wait == 60_000)
        let later = start.advanced(by: .seconds(3600))
        #expect(isAdmitted(history.admit(account, from: network(1), at: later)))
        #expect(history.count == 0)
    }

    /// However attackers behave, whoever comes from a network of his own waits for nothing at
    /// first, and after a failure for no longer than the bound.
    @Test func noStormOfFailuresKeepsTheOwnerOut() {
        let random = SeededBytes(seed: 5)
        var history = LoginHistory(settings: .init(capacity: 1000))
        let home = network(1)
        history.recordSuccess(account, from: home, at: start)
        for second in 0..<3000 {
            let now = at(Int64(second))
            for _ in 0..<3 {
                let attacker = network(1000 + random.below(100_000))
                if history.admit(account, from: attacker, at: now) == 0 {
                    history.recordFailure(
                        account, secret: UInt64(random.below(1 << 40) + 1), from: attacker, at: now)
                }
            }
            #expect(isAdmitted(history.admit(account, from: home, at: now)))
            let elsewhere = network(200_000 + second)
            #expect(isAdmitted(history.admit(account, from: elsewhere, at: now)))
            history.recordFailure(account, secret: 3, from: elsewhere, at: now)
            let wait = history.admit(account, from: elsewhere, at: now)
            #expect(wait <= 8000)
            let patient = now.advanced(by: .seconds(8))
            #expect(isAdmitted(history.admit(account, from: elsewhere, at: patient)))
            // The clock of this test goes on from `now`; nobody minds that it stepped back.
        }
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func timesAtTheEndsOfTheirRangeTrapNothing(edge: Int64) {
        var history = LoginHistory(settings: .init(freeTries: 0))
        for now in [Instant(milliseconds: edge), start, Instant(milliseconds: edge)] {
            _ = history.admit(account, from: network(1), at: now)
            history.recordFailure(account, secret: 1, from: network(1), at: now)
            history.recordFailure(account, secret: 2, from: network(1), at: now)
            _ = history.admit(account, from: network(1), at: now)
            history.recordSuccess(account, from: network(1), at: now)
        }
    }
}
