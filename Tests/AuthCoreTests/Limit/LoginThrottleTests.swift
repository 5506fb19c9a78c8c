import AuthCore
import TestSupport
import Testing

struct LoginThrottleTests {
    private let start = Instant(seconds: 1_800_000_000)
    private let owner = "owner@mail.test"
    private let home = ClientAddress(bytes: [192, 0, 2, 1])
    private let throttle = LoginThrottle(random: SeededBytes(seed: 9).make)

    private func at(_ seconds: Int64) -> Instant { start.advanced(by: .seconds(seconds)) }

    private func attacker(_ number: Int) -> ClientAddress {
        ClientAddress(bytes: [10, 0, UInt8(number >> 8), UInt8(number & 0xff)])
    }

    private func wait(
        _ account: String, _ client: ClientAddress, at now: Instant, on throttle: LoginThrottle
    ) -> Duration {
        do {
            try throttle.admit(account: account, from: client, at: now)
            return .zero
        } catch .tooManyRequests(let wait, _) {
            return wait
        } catch {
            Issue.record("\(error)")
            return .zero
        }
    }

    private func wait(_ account: String, _ client: ClientAddress, at now: Instant) -> Duration {
        wait(account, client, at: now, on: throttle)
    }

    private func fail(
        _ account: String, _ secret: String, _ client: ClientAddress, at now: Instant
    ) {
        throttle.recordFailure(
            account: account, secret: .bytes(Array(secret.utf8)), from: client, at: now)
    }

    @Test func fiveTriesAreFreeAndThenTheWaitDoublesUpToAMinute() {
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

    @Test func theWaitIsWholeSecondsThatSuffice() {
        for number in 0..<9 { fail(owner, "wrong \(number)", home, at: start) }
        let later = start.advanced(by: .milliseconds(1))
        let due = wait(owner, home, at: later)
        #expect(due >= .seconds(15) && due.components.attoseconds == 0)
        #expect(wait(owner, home, at: later.advanced(by: due - .seconds(1))) > .zero)
        #expect(wait(owner, home, at: later.advanced(by: due)) == .zero)
    }

    @Test func oneStalePasswordRepeatedCountsOnce() {
        for second in 0..<1000 {
            #expect(wait(owner, home, at: at(Int64(second))) == .zero)
            fail(owner, "stale", home, at: at(Int64(second)))
        }
    }

    @Test func severalStalePasswordsInTurnCountOnceEach() {
        for second in 0..<1000 {
            #expect(wait(owner, home, at: at(Int64(second))) == .zero)
            fail(owner, "stale \(second % 4)", home, at: at(Int64(second)))
        }
    }

    @Test func oneStalePasswordOnManyNetworksSlowsNoOther() {
        for number in 0..<100 { fail(owner, "stale", attacker(number), at: start) }
        fail(owner, "typo", home, at: start)
        #expect(wait(owner, home, at: start) == .zero)
    }

    @Test func aSuccessForgivesTheNetworksOwnFailures() {
        for number in 0..<8 { fail(owner, "wrong \(number)", home, at: start) }
        #expect(wait(owner, home, at: start) > .zero)
        throttle.recordSuccess(account: owner, from: home, at: start)
        for number in 0..<4 {
            #expect(wait(owner, home, at: start) == .zero)
            fail(owner, "again \(number)", home, at: start)
        }
        #expect(wait(owner, home, at: start) == .zero)
    }

    @Test func failuresOfOneNetworkDoNotSlowAnother() {
        for number in 0..<9 { fail(owner, "wrong \(number)", attacker(1), at: start) }
        #expect(wait(owner, attacker(1), at: start) > .zero)
        #expect(wait(owner, home, at: start) == .zero)
        #expect(wait("other@mail.test", attacker(1), at: start) == .zero)
    }

    @Test func oneNetworkTryingManyAccountsIsSlowedOnAllOfThem() {
        for number in 0..<30 { fail("user\(number)@mail.test", "123456", home, at: start) }
        let due = wait("fresh@mail.test", home, at: start)
        #expect(due > .seconds(1) && due <= .seconds(60))
        #expect(wait("fresh@mail.test", attacker(1), at: start) == .zero)
    }

    @Test func aNetworkThatOpenedAnAccountIsNotSlowedOnItByItsNeighbours() {
        throttle.recordSuccess(account: owner, from: home, at: start)
        for number in 0..<60 { fail("user\(number)@mail.test", "123456", home, at: start) }
        #expect(wait("fresh@mail.test", home, at: start) > .zero)
        #expect(wait(owner, home, at: start) == .zero)
    }

    @Test func aSuccessElsewhereBuysNoTries() {
        for number in 0..<60 { fail("user\(number)@mail.test", "123456", home, at: start) }
        throttle.recordSuccess(account: "mine@mail.test", from: home, at: start)
        #expect(wait("fresh@mail.test", home, at: start) > .zero)
    }

    @Test func manyNetworksLoseTheirFreeTriesAndTheOwnerLosesNothing() {
        throttle.recordSuccess(account: owner, from: home, at: start)
        for number in 0..<200 { fail(owner, "guess \(number)", attacker(number), at: start) }
        fail(owner, "guess", attacker(500), at: start)
        #expect(wait(owner, attacker(500), at: start) == .seconds(8))
        fail(owner, "typo", home, at: start)
        #expect(wait(owner, home, at: start) == .zero)
    }

    @Test func anOwnerOnANewNetworkIsAdmittedAtOnceAndWaitsEightSecondsAtMost() {
        for number in 0..<200 { fail(owner, "guess \(number)", attacker(number), at: start) }
        #expect(wait(owner, home, at: start) == .zero)
        fail(owner, "typo", home, at: start)
        #expect(wait(owner, home, at: start) == .seconds(8))
        #expect(wait(owner, home, at: at(8)) == .zero)
    }

    @Test func onceItHasToWaitANetworkHasOneTryAtATime() {
        for number in 0..<7 { fail(owner, "wrong \(number)", home, at: start) }
        #expect(wait(owner, home, at: at(4)) == .zero)
        #expect(wait(owner, home, at: at(4)) > .zero)
        // An attempt that came to no verdict is not held against it for long.
        #expect(wait(owner, home, at: at(9)) == .zero)
    }

    @Test func accountsAreToldApartWhateverTheirNamesAre() {
        for name in ["a", "a\u{0}", "A"] {
            for number in 0..<5 { fail(name, "wrong \(number)", home, at: start) }
            #expect(wait(name, home, at: start) == .seconds(1))
        }
        #expect(wait("", home, at: start) == .zero)
        #expect(wait(String(repeating: "a", count: 10_000), home, at: start) == .zero)
    }

    @Test func switchedOffItAdmitsEverything() {
        let off = LoginThrottle(
            settings: .init(isEnabled: false), random: SeededBytes(seed: 9).make)
        for number in 0..<100 {
            off.recordFailure(
                account: owner, secret: .bytes([UInt8(number)]), from: home, at: start)
            #expect(wait(owner, home, at: start, on: off) == .zero)
        }
    }
}
