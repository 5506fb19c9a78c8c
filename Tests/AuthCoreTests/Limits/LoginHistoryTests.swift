import Networking
import TestSupport
import Testing

@testable import AuthCore

struct LoginHistoryTests {
    private let start = ContinuousClock.Instant(milliseconds: 1_800_000_000_000)
    private let account = LoginHistory.AccountKey(high: 1, low: 1)

    private func account(_ number: Int) -> LoginHistory.AccountKey {
        .init(high: 2, low: UInt64(number))
    }

    private func client(_ number: Int) -> IPAddress {
        IPAddress(v4: UInt32(truncatingIfNeeded: number))
    }

    private func at(_ seconds: Int64) -> ContinuousClock.Instant {
        start.advanced(by: .seconds(seconds))
    }

    /// - Returns: the wait in milliseconds.
    private func attempt(
        _ history: inout LoginHistory, _ account: LoginHistory.AccountKey, _ client: IPAddress,
        at now: ContinuousClock.Instant, isKnown: Bool = false,
        as outcome: LoginThrottle.Outcome = .failed
    ) -> Int64 {
        let wait = history.begin(account, from: client, isKnown: isKnown, at: now)
        if wait == 0 {
            history.end(account, from: client, isKnown: isKnown, as: outcome, begunAt: now)
        }
        return wait
    }

    @Test func theTableNeverExceedsItsCapacity() {
        var history = LoginHistory(settings: .init(capacity: 100))
        for number in 0..<20_000 {
            _ = attempt(
                &history, account(number), client(number << 8), at: at(Int64(number / 1000)))
            #expect(history.count <= 108)
        }
    }

    @Test func attemptsThatDoNotFailLeaveNoEntry() {
        var history = LoginHistory(settings: .init())
        for number in 0..<1000 {
            for outcome in [LoginThrottle.Outcome.succeeded, .unchecked] {
                #expect(
                    attempt(
                        &history, account(number), client(number << 8), at: start, as: outcome)
                        == 0)
            }
        }
        #expect(history.count == 0)
    }

    @Test func oldFailuresAreForgottenAndTheirEntriesRemoved() {
        var history = LoginHistory(settings: .init())
        for number in 0..<50 { _ = attempt(&history, account, client(number), at: start) }
        #expect(attempt(&history, account, client(1), at: start) > 0)
        let later = at(7200)
        #expect(attempt(&history, account, client(1), at: later, as: .unchecked) == 0)
        #expect(history.count == 0)
    }

    /// Whatever strangers do, the owner is checked at once where it has logged in before.
    @Test func noNumberOfFailuresElsewhereMakesTheOwnerWait() {
        let random = SeededBytes(seed: 5)
        var history = LoginHistory(settings: .init(capacity: 1000))
        var checked = 0
        for second in 0..<3000 {
            let now = at(Int64(second))
            for _ in 0..<3 {
                let stranger = client(random.below(1 << 30))
                if attempt(&history, account, stranger, at: now) == 0 { checked += 1 }
            }
            #expect(
                attempt(
                    &history, account, client(1), at: now, isKnown: true, as: .succeeded) == 0)
        }
        // A hundred at first, then one in six seconds.
        #expect(checked > 400 && checked < 100 + 3000 / 5)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func extremeTimesDoNotTrap(edge: Int64) {
        var history = LoginHistory(settings: .init(clientTries: 0))
        for now in [
            ContinuousClock.Instant(milliseconds: edge), start,
            ContinuousClock.Instant(milliseconds: edge),
        ] {
            _ = attempt(&history, account, client(1), at: now, isKnown: true)
            #expect(attempt(&history, account, client(1), at: now, isKnown: true) > 0)
            history.end(account, from: client(1), isKnown: true, as: .succeeded, begunAt: now)
        }
    }
}
