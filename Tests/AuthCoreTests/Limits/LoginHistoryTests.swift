import Networking
import TestSupport
import Testing

@testable import AuthCore

struct LoginHistoryTests {
    private let start = Instant(seconds: 1_800_000_000)
    private let account = LoginHistory.AccountKey(high: 1, low: 1)

    private func account(_ number: Int) -> LoginHistory.AccountKey {
        .init(high: 2, low: UInt64(number))
    }

    private func network(_ number: Int) -> IPBlock {
        IPAddress(v4: UInt32(truncatingIfNeeded: number)).client
    }

    /// Whether an attempt is checked at once.
    private func isChecked(_ wait: Int64) -> Bool { wait == 0 }

    private func at(_ seconds: Int64) -> Instant { start.advanced(by: .seconds(seconds)) }

    @Test func theTablesNeverExceedTheirCapacity() {
        var history = LoginHistory(settings: .init(capacity: 100))
        for number in 0..<20_000 {
            history.recordFailure(
                account(number), secret: 1, from: network(number), at: at(Int64(number / 1000)))
            history.recordSuccess(account(number), from: network(number), at: start)
            #expect(history.count <= 4 * 102)
        }
    }

    @Test func attemptsWithoutAResultAreNotRecorded() {
        var history = LoginHistory(settings: .init())
        for number in 0..<10_000 {
            #expect(isChecked(history.check(account(number), from: network(number), at: start)))
        }
        #expect(history.count == 0)
    }

    @Test func anAccountRemembersTheLastEightNetworksThatLoggedIn() {
        var history = LoginHistory(settings: .init(accountFreeTries: 1))
        for number in 1...9 { history.recordSuccess(account, from: network(number), at: start) }
        for number in 100..<110 {
            history.recordFailure(
                account, secret: UInt64(number), from: network(number), at: start)
        }
        for number in 1...9 {
            history.recordFailure(account, secret: 7, from: network(number), at: start)
            let wait = history.check(account, from: network(number), at: start)
            #expect((wait > 0) == (number == 1))
        }
    }

    @Test func oldFailuresAreForgottenAndTheirEntriesRemoved() {
        var history = LoginHistory(settings: .init())
        for secret: UInt64 in 1...50 {
            history.recordFailure(account, secret: secret, from: network(1), at: start)
        }
        let wait = history.check(account, from: network(1), at: start)
        #expect(wait == 60_000)
        let later = start.advanced(by: .seconds(3600))
        #expect(isChecked(history.check(account, from: network(1), at: later)))
        #expect(history.count == 0)
    }

    /// Whatever attackers do, a client on a network without failures is checked at once, and waits
    /// at most eight seconds after its first failure.
    @Test func noNumberOfFailuresElsewhereLocksTheOwnerOut() {
        let random = SeededBytes(seed: 5)
        var history = LoginHistory(settings: .init(capacity: 1000))
        let home = network(1)
        history.recordSuccess(account, from: home, at: start)
        for second in 0..<3000 {
            let now = at(Int64(second))
            for _ in 0..<3 {
                let attacker = network(1000 + random.below(100_000))
                if history.check(account, from: attacker, at: now) == 0 {
                    history.recordFailure(
                        account, secret: UInt64(random.below(1 << 40) + 1), from: attacker, at: now)
                }
            }
            #expect(isChecked(history.check(account, from: home, at: now)))
            let elsewhere = network(200_000 + second)
            #expect(isChecked(history.check(account, from: elsewhere, at: now)))
            history.recordFailure(account, secret: 3, from: elsewhere, at: now)
            let wait = history.check(account, from: elsewhere, at: now)
            #expect(wait <= 8000)
            let patient = now.advanced(by: .seconds(8))
            #expect(isChecked(history.check(account, from: elsewhere, at: patient)))
            // The next round begins at an earlier time than `patient`, which the history accepts.
        }
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func extremeTimesDoNotTrap(edge: Int64) {
        var history = LoginHistory(settings: .init(freeTries: 0))
        for now in [Instant(milliseconds: edge), start, Instant(milliseconds: edge)] {
            _ = history.check(account, from: network(1), at: now)
            history.recordFailure(account, secret: 1, from: network(1), at: now)
            history.recordFailure(account, secret: 2, from: network(1), at: now)
            #expect(!isChecked(history.check(account, from: network(1), at: now)))
            history.recordSuccess(account, from: network(1), at: now)
            #expect(isChecked(history.check(account, from: network(1), at: now)))
        }
    }
}
