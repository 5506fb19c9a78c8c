import AuthCore
import Networking
import TestSupport
import Testing

struct LoginThrottleTests {
    private let start = Instant(seconds: 1_800_000_000)
    private let owner = "owner@mail.test"
    private let home = IPAddress(v4: 0xc000_0201)
    private let throttle = LoginThrottle(random: SeededBytes(seed: 9).make)

    private func at(_ seconds: Int64) -> Instant { start.advanced(by: .seconds(seconds)) }

    private func attacker(_ number: Int) -> IPAddress {
        IPAddress(v4: 0x0a00_0000 + UInt32(number))
    }

    private func wait(
        _ account: String, _ client: IPAddress, at now: Instant, on throttle: LoginThrottle
    ) -> Duration {
        do {
            try throttle.check(account: account, from: client, at: now)
            return .zero
        } catch {
            // No bucket is empty, so there is none to describe.
            #expect(error.status == nil)
            return error.retryAfter
        }
    }

    private func wait(_ account: String, _ client: IPAddress, at now: Instant) -> Duration {
        wait(account, client, at: now, on: throttle)
    }

    private func fail(
        _ account: String, _ secret: String, _ client: IPAddress, at now: Instant
    ) {
        throttle.recordFailure(
            account: account, secret: .bytes(Array(secret.utf8)), from: client, at: now)
    }

    @Test func fiveFailuresCostNoWaitAndThenItDoublesUpToAMinute() {
        var now = start
        var waits: [Duration] = []
        for number in 0..<14 {
            let due = wait(owner, home, at: now)
            waits.append(due)
            now = now.advanced(by: due)
            if due > .zero { #expect(wait(owner, home, at: now) == .zero) }
            fail(owner, "wrong \(number)", home, at: now)
        }
        #expect(Array(waits[..<9]) == [0, 0, 0, 0, 0, 1, 2, 4, 8].map { Duration.seconds($0) })
        #expect(waits.allSatisfy { $0 <= .seconds(60) } && waits.last ?? .zero > .seconds(15))
    }

    @Test func retryAfterIsTheSmallestSufficientNumberOfSeconds() {
        for number in 0..<9 { fail(owner, "wrong \(number)", home, at: start) }
        let later = start.advanced(by: .milliseconds(1))
        let due = wait(owner, home, at: later)
        #expect(due >= .seconds(15) && due.components.attoseconds == 0)
        #expect(wait(owner, home, at: later.advanced(by: due - .seconds(1))) > .zero)
        #expect(wait(owner, home, at: later.advanced(by: due)) == .zero)
    }

    @Test func oneOutdatedPasswordRepeatedCountsOnce() {
        for second in 0..<1000 {
            #expect(wait(owner, home, at: at(Int64(second))) == .zero)
            fail(owner, "outdated", home, at: at(Int64(second)))
        }
    }

    @Test func fourOutdatedPasswordsInTurnCountOnceEach() {
        for second in 0..<1000 {
            #expect(wait(owner, home, at: at(Int64(second))) == .zero)
            fail(owner, "outdated \(second % 4)", home, at: at(Int64(second)))
        }
    }

    @Test func oneOutdatedPasswordOnManyNetworksDelaysNoOtherNetwork() {
        for number in 0..<100 { fail(owner, "outdated", attacker(number), at: start) }
        fail(owner, "typo", home, at: start)
        #expect(wait(owner, home, at: start) == .zero)
    }

    @Test func aSuccessClearsTheFailuresOfItsNetwork() {
        for number in 0..<8 { fail(owner, "wrong \(number)", home, at: start) }
        #expect(wait(owner, home, at: start) > .zero)
        throttle.recordSuccess(account: owner, from: home, at: start)
        for number in 0..<4 {
            #expect(wait(owner, home, at: start) == .zero)
            fail(owner, "again \(number)", home, at: start)
        }
        #expect(wait(owner, home, at: start) == .zero)
    }

    @Test func failuresOfOneNetworkDoNotDelayAnother() {
        for number in 0..<9 { fail(owner, "wrong \(number)", attacker(1), at: start) }
        #expect(wait(owner, attacker(1), at: start) > .zero)
        #expect(wait(owner, home, at: start) == .zero)
        #expect(wait("other@mail.test", attacker(1), at: start) == .zero)
    }

    @Test func aNetworkThatTriesManyAccountsIsDelayedOnAllOfThem() {
        for number in 0..<30 { fail("user\(number)@mail.test", "123456", home, at: start) }
        let due = wait("fresh@mail.test", home, at: start)
        #expect(due > .seconds(1) && due <= .seconds(60))
        #expect(wait("fresh@mail.test", attacker(1), at: start) == .zero)
    }

    @Test func aNetworkThatLoggedInToAnAccountIsNotDelayedOnItByFailuresOnOthers() {
        throttle.recordSuccess(account: owner, from: home, at: start)
        for number in 0..<60 { fail("user\(number)@mail.test", "123456", home, at: start) }
        #expect(wait("fresh@mail.test", home, at: start) > .zero)
        #expect(wait(owner, home, at: start) == .zero)
    }

    @Test func aSuccessOnOneAccountClearsNoFailuresOnOthers() {
        for number in 0..<60 { fail("user\(number)@mail.test", "123456", home, at: start) }
        throttle.recordSuccess(account: "mine@mail.test", from: home, at: start)
        #expect(wait("fresh@mail.test", home, at: start) > .zero)
    }

    @Test func failuresFromManyNetworksDelayEachOfThemAndNotAKnownNetwork() {
        throttle.recordSuccess(account: owner, from: home, at: start)
        for number in 0..<200 { fail(owner, "guess \(number)", attacker(number), at: start) }
        fail(owner, "guess", attacker(500), at: start)
        #expect(wait(owner, attacker(500), at: start) == .seconds(8))
        fail(owner, "typo", home, at: start)
        #expect(wait(owner, home, at: start) == .zero)
    }

    @Test func aNewNetworkIsCheckedAtOnceAndThenWaitsEightSecondsAtMost() {
        for number in 0..<200 { fail(owner, "guess \(number)", attacker(number), at: start) }
        #expect(wait(owner, home, at: start) == .zero)
        fail(owner, "typo", home, at: start)
        #expect(wait(owner, home, at: start) == .seconds(8))
        #expect(wait(owner, home, at: at(8)) == .zero)
    }

    @Test func aNetworkThatHadToWaitHasOneAttemptAtATime() {
        for number in 0..<7 { fail(owner, "wrong \(number)", home, at: start) }
        #expect(wait(owner, home, at: at(4)) == .zero)
        #expect(wait(owner, home, at: at(4)) > .zero)
        // An attempt without a result blocks the next one for five seconds at most.
        #expect(wait(owner, home, at: at(9)) == .zero)
    }

    @Test func accountsWithSimilarNamesAreCountedApart() {
        for name in ["a", "a\u{0}", "A"] {
            for number in 0..<5 { fail(name, "wrong \(number)", home, at: start) }
            #expect(wait(name, home, at: start) == .seconds(1))
        }
        #expect(wait("", home, at: start) == .zero)
        #expect(wait(String(repeating: "a", count: 10_000), home, at: start) == .zero)
    }

    @Test func aDisabledThrottleDelaysNothing() {
        let off = LoginThrottle(
            settings: .init(isEnabled: false), random: SeededBytes(seed: 9).make)
        for number in 0..<100 {
            off.recordFailure(
                account: owner, secret: .bytes([UInt8(number)]), from: home, at: start)
            #expect(wait(owner, home, at: start, on: off) == .zero)
        }
    }
}
