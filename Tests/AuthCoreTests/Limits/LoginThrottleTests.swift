import Networking
import TestSupport
import Testing

@testable import AuthCore

@Suite(.timeLimit(.minutes(10))) struct LoginThrottleTests {
    private let start = Instant(seconds: 1_800_000_000)
    private let owner = LoginName.mailbox(address("owner@mail.test"))
    private let home = IPAddress(v4: 0xc000_0201)
    private let stores: Stores
    private let throttle: LoginThrottle

    init() throws {
        stores = try AgentWorld().stores
        throttle = LoginThrottle(audit: stores.audit, random: SeededBytes(seed: 9).make)
    }

    private static func address(_ text: String) -> Address {
        guard let address = Address(parsing: text) else { preconditionFailure() }
        return address
    }

    private func name(_ number: Int) -> LoginName {
        .mailbox(Self.address("user\(number)@mail.test"))
    }

    private func caller(_ client: IPAddress, _ now: Instant) -> Caller {
        Caller(
            address: client, requestID: "test", now: now,
            arrival: ContinuousClock.Instant(milliseconds: now.milliseconds))
    }

    /// Clients of different sites.
    private func stranger(_ number: Int) -> IPAddress {
        IPAddress(v4: 0x0a00_0001 + UInt32(number) << 8)
    }

    /// Makes an attempt that ends at once.
    /// - Returns: how long it has to wait instead; zero when it was checked.
    private func attempt(
        _ name: LoginName, _ client: IPAddress, _ seconds: Int64 = 0, milliseconds: Int64 = 0,
        as outcome: LoginThrottle.Outcome = .failed
    ) async throws -> Duration {
        let time = Duration.seconds(seconds) + .milliseconds(milliseconds)
        let caller = caller(client, start.advanced(by: time))
        do {
            let attempt = try await throttle.begin(name, by: caller)
            attempt.end(as: outcome)
            return .zero
        } catch let error as RateLimited {
            // No bucket is empty, so there is none to describe.
            #expect(error.status == nil)
            return error.retryAfter
        }
    }

    private func isChecked(
        _ name: LoginName, _ client: IPAddress, _ seconds: Int64 = 0
    ) async throws -> Bool {
        try await attempt(name, client, seconds, as: .unchecked) == .zero
    }

    private func recordLogin(
        _ subject: String, _ client: IPAddress, _ seconds: Int64 = 0,
        actor: AuditEvent.Actor = .account(AccountID(random: [UInt8](repeating: 1, count: 16)))
    ) async throws {
        try await stores.audit.append(
            AuditEvent(
                .loginSucceeded, by: caller(client, start.advanced(by: .seconds(seconds))),
                actor: actor, subject: subject))
    }

    // MARK: By account and client

    @Test func fiveFailuresCostNoWaitAndThenItDoublesUpToAMinute() async throws {
        var second: Int64 = 0
        var waits: [Int64] = []
        for _ in 0..<14 {
            let wait = try await attempt(owner, home, second)
            waits.append(wait.components.seconds)
            guard wait > .zero else { continue }
            second += wait.components.seconds
            #expect(try await attempt(owner, home, second) == .zero)
        }
        #expect(Array(waits[..<9]) == [0, 0, 0, 0, 0, 1, 2, 4, 8])
        #expect(waits.allSatisfy { $0 <= 60 } && waits.last ?? 0 > 15)
    }

    /// A client that comes back after the seconds of `Retry-After` need not wait again.
    @Test func theWaitIsRoundedUpToSeconds() async throws {
        for _ in 0..<5 { #expect(try await attempt(owner, home) == .zero) }
        // The sixth failure costs 2 s.
        #expect(try await attempt(owner, home, 1) == .zero)
        for (milliseconds, wait) in [(1001, 2), (1999, 2), (2000, 1), (2001, 1), (2999, 1)] {
            let found = try await attempt(owner, home, milliseconds: Int64(milliseconds))
            #expect(found == .seconds(wait), "after \(milliseconds) ms")
        }
        #expect(try await attempt(owner, home, 3) == .zero)
    }

    /// The digests of wrong secrets are not kept, so every attempt counts.
    @Test func aSuccessClearsTheFailuresOfItsClient() async throws {
        for _ in 0..<3 {
            for _ in 0..<4 { #expect(try await attempt(owner, home) == .zero) }
            #expect(try await attempt(owner, home, as: .succeeded) == .zero)
        }
    }

    @Test func attemptsInProgressCountForAClientThatIsNotKnown() async throws {
        let first = try await throttle.begin(owner, by: caller(home, start))
        let second = try await throttle.begin(owner, by: caller(home, start))
        for _ in 0..<3 { #expect(try await attempt(owner, home) == .zero) }
        #expect(try await attempt(owner, home) == .seconds(1))
        first.end(as: .succeeded)
        for _ in 0..<4 { #expect(try await attempt(owner, home) == .zero) }
        #expect(try await attempt(owner, home) == .seconds(1))
        second.end(as: .succeeded)
    }

    /// A program may open many connections at once.
    @Test func attemptsInProgressDoNotCountForAKnownClientWithoutFailures() async throws {
        try await recordLogin("owner@mail.test", home)
        let one = try await throttle.begin(owner, by: caller(home, start))
        let two = try await throttle.begin(owner, by: caller(home, start))
        let three = try await throttle.begin(owner, by: caller(home, start))
        let four = try await throttle.begin(owner, by: caller(home, start))
        let five = try await throttle.begin(owner, by: caller(home, start))
        let six = try await throttle.begin(owner, by: caller(home, start))
        #expect(try await isChecked(owner, home))
        one.end(as: .succeeded)
        two.end(as: .succeeded)
        three.end(as: .succeeded)
        four.end(as: .succeeded)
        five.end(as: .succeeded)
        six.end(as: .succeeded)
    }

    @Test func afterTheFreeTriesAttemptsInProgressCountForAKnownClient() async throws {
        try await recordLogin("owner@mail.test", home)
        for _ in 0..<5 { #expect(try await attempt(owner, home) == .zero) }
        let begun = try await throttle.begin(
            owner, by: caller(home, start.advanced(by: .seconds(1))))
        #expect(try await attempt(owner, home, 1) == .seconds(2))
        begun.end(as: .unchecked)
        #expect(try await attempt(owner, home, 1) == .seconds(1))
    }

    @Test func anUncheckedAttemptCountsForNothing() async throws {
        for _ in 0..<200 { #expect(try await isChecked(owner, home)) }
    }

    @Test func anAttemptThatIsNotEndedOrWasCancelledCountsAsFailed() async throws {
        for number in 0..<5 {
            let begun = try await throttle.begin(owner, by: caller(home, start))
            if number % 2 == 0 { begun.end(after: CancellationError()) }
        }
        #expect(try await attempt(owner, home) == .seconds(1))
        let unchecked = try await throttle.begin(
            owner, by: caller(home, start.advanced(by: .seconds(1))))
        unchecked.end(after: StoreBusy())
        // Still five: the next wait is the same.
        #expect(try await attempt(owner, home, 1) == .seconds(1))
    }

    @Test func waitingCountsForNothing() async throws {
        for _ in 0..<5 { _ = try await attempt(owner, home) }
        for _ in 0..<100 { #expect(try await attempt(owner, home) == .seconds(1)) }
    }

    @Test func settingTheClockBackMakesNobodyWait() async throws {
        for _ in 0..<5 { #expect(try await attempt(owner, home) == .zero) }
        // The wait of the sixth attempt is over, and then the wall clock is set back.
        let caller = Caller(
            address: home, requestID: "test", now: start.advanced(by: .seconds(-3600)),
            arrival: ContinuousClock.Instant(milliseconds: start.milliseconds + 1000))
        try await throttle.begin(owner, by: caller).end(as: .unchecked)
    }

    // MARK: By account and site, by account, over all accounts

    @Test func clientsOfOneSiteHaveTwentyTriesOnAnAccount() async throws {
        func client(_ number: UInt64) -> IPAddress {
            IPAddress(v6: 0x2001_0db8_0000_0000 | number, 1)
        }
        for number in 0..<20 {
            #expect(try await attempt(owner, client(UInt64(number))) == .zero)
        }
        #expect(try await attempt(owner, client(60)) == .seconds(1))
        #expect(try await attempt(name(1), client(60)) == .zero)
        #expect(try await attempt(owner, home) == .zero)
    }

    @Test func anAccountHasAHundredTriesFromAllClients() async throws {
        for number in 0..<100 {
            #expect(try await attempt(owner, stranger(number)) == .zero)
        }
        #expect(try await attempt(owner, home) == .seconds(1))
        #expect(try await attempt(name(1), home) == .zero)
        // Ten minutes after the last failure all are forgotten.
        for number in 0..<100 {
            #expect(try await attempt(owner, stranger(1000 + number), 700) == .zero)
        }
    }

    /// Nor those of the account: its owner's logins do not help a guesser.
    @Test func aSuccessDoesNotClearTheFailuresOfOtherClients() async throws {
        for number in 0..<99 {
            #expect(try await attempt(owner, stranger(number)) == .zero)
        }
        #expect(try await attempt(owner, home, as: .succeeded) == .zero)
        #expect(try await attempt(owner, stranger(99)) == .zero)
        #expect(try await attempt(owner, stranger(100)) == .seconds(1))
    }

    @Test func aClientThatTriesManyAccountsWaitsOnAllOfThem() async throws {
        for number in 0..<20 { #expect(try await attempt(name(number), home) == .zero) }
        #expect(try await attempt(name(50), home) == .seconds(1))
        #expect(try await attempt(name(50), stranger(1)) == .zero)
        // A login to an account of one's own gives no new tries on others.
        #expect(try await attempt(owner, home, 1, as: .succeeded) == .zero)
        #expect(try await attempt(name(51), home, 1) > .zero)
    }

    // MARK: Known clients

    @Test func strangersNeverMakeAKnownClientWait() async throws {
        try await recordLogin("owner@mail.test", home)
        for number in 0..<120 { _ = try await attempt(owner, stranger(number)) }
        for number in 0..<120 { _ = try await attempt(owner, home.neighbour(number)) }
        #expect(try await !isChecked(owner, stranger(500)))
        #expect(try await isChecked(owner, home))
        // Its own failures do, after the free tries.
        for _ in 0..<5 { #expect(try await attempt(owner, home) == .zero) }
        #expect(try await attempt(owner, home) == .seconds(1))
    }

    @Test func aClientIsKnownForThirtyDays() async throws {
        let later: Int64 = 30 * 86_400
        for (number, second) in [(1, Int64(0)), (2, -1)] {
            try await recordLogin("user\(number)@mail.test", home, second)
            for other in 0..<100 {
                _ = try await attempt(name(number), stranger(100 * number + other), later)
            }
            #expect(try await isChecked(name(number), home, later) == (number == 1))
        }
    }

    @Test func aLoginToAnotherNameOfTheSameTextMakesNoClientKnown() async throws {
        let email = try #require(Email(parsing: "owner@mail.test"))
        try await recordLogin(
            "owner@mail.test", home, actor: .user(UserID(random: [UInt8](repeating: 2, count: 16))))
        try await recordLogin("owner@mail.test", home, actor: .email(email))
        try await recordLogin("user1@mail.test", home)
        for number in 0..<100 { _ = try await attempt(owner, stranger(number)) }
        #expect(try await !isChecked(owner, home))
        for name in [LoginName.user(email), .hashLogin(email)] {
            for number in 0..<100 { _ = try await attempt(name, stranger(number + 200)) }
            #expect(try await isChecked(name, home))
        }
    }

    @Test func aBrokenLogIsAnErrorAndNotAnUnknownClient() async throws {
        for _ in 0..<5 { _ = try await attempt(owner, home) }
        await stores.close()
        await #expect(throws: (any Error).self) {
            let attempt = try await throttle.begin(owner, by: caller(home, start))
            attempt.end(as: .unchecked)
        }
    }

    // MARK: The rest

    @Test func namesOfDifferentKindsAreCountedApart() async throws {
        let email = try #require(Email(parsing: "owner@mail.test"))
        for name in [owner, .user(email), .hashLogin(email), .hashLogin(nil)] {
            for _ in 0..<5 { #expect(try await attempt(name, home) == .zero) }
        }
    }

    @Test func aDisabledThrottleDelaysNothing() async throws {
        let off = LoginThrottle(
            settings: .init(isEnabled: false), audit: stores.audit,
            random: SeededBytes(seed: 9).make)
        for _ in 0..<200 {
            let attempt = try await off.begin(owner, by: caller(home, start))
            attempt.end(as: .failed)
        }
    }
}

extension IPAddress {
    /// Another address of the same IPv4 /24.
    fileprivate func neighbour(_ number: Int) -> IPAddress {
        IPAddress(v4: 0xc000_0202 + UInt32(number))
    }
}
