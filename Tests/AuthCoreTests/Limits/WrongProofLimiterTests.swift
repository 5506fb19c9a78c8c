import Networking
import Testing

@testable import AuthCore

struct WrongProofLimiterTests {
    private let start = ContinuousClock.Instant(milliseconds: 1_800_000_000_000)
    private let client = IPAddress(v4: 0xc000_0201)
    private let other = IPAddress(v4: 0xc000_0202)

    @Test func elevenWrongDigestsInAMinuteAreCheckedAndTheTwelfthIsRejected() throws {
        let limiter = WrongProofLimiter()
        for _ in 0..<11 { try limiter.acquire(client, at: start) }
        #expect(throws: RateLimited.self) { try limiter.acquire(client, at: start) }
        try limiter.acquire(other, at: start)
    }

    @Test func aDigestThatIsRefundedDoesNotCount() throws {
        let limiter = WrongProofLimiter()
        for _ in 0..<100 {
            try limiter.acquire(client, at: start)
            limiter.refund(client, at: start)
        }
        try limiter.acquire(client, at: start)
    }

    @Test func aRefundGoesToTheMinuteInWhichTheDigestArrived() throws {
        let limiter = WrongProofLimiter(allowance: 0)
        let late = start.advanced(by: .seconds(59))
        let next = start.advanced(by: .seconds(60))
        try limiter.acquire(client, at: late)
        #expect(throws: RateLimited.self) { try limiter.acquire(client, at: next) }
        limiter.refund(client, at: late)
        try limiter.acquire(client, at: next)
    }

    @Test func retryAfterIsAtMostAMinuteAndThenTheClientMayTryAgain() throws {
        let limiter = WrongProofLimiter()
        for _ in 0..<11 { try limiter.acquire(client, at: start) }
        do {
            try limiter.acquire(client, at: start)
            Issue.record("not rejected")
        } catch {
            #expect(error.retryAfter >= .seconds(1) && error.retryAfter <= .seconds(60))
            #expect(error.status?.limit == 10 && error.status?.remaining == 0)
            try limiter.acquire(client, at: start.advanced(by: error.retryAfter + .seconds(20)))
        }
    }

    @Test func digestsOfTheLastMinuteStillCountAfterTheMinuteEnds() throws {
        let limiter = WrongProofLimiter()
        let lateInTheMinute = start.advanced(by: .seconds(59))
        for _ in 0..<11 { try limiter.acquire(client, at: lateInTheMinute) }
        let next = start.advanced(by: .seconds(61))
        #expect(throws: RateLimited.self) { try limiter.acquire(client, at: next) }
    }

    @Test func aFullTableCountsNoFurtherClientsAndRejectsNoneOfThem() throws {
        let limiter = WrongProofLimiter(allowance: 1, capacity: 1)
        for _ in 0..<2 { try limiter.acquire(client, at: start) }
        for _ in 0..<5 { try limiter.acquire(other, at: start) }
        #expect(throws: RateLimited.self) { try limiter.acquire(client, at: start) }
    }

    @Test func extremeTimesDoNotTrap() throws {
        let limiter = WrongProofLimiter(allowance: 0)
        for edge in [Int64.min, -1, 0, .max] {
            let now = ContinuousClock.Instant(milliseconds: edge)
            try limiter.acquire(client, at: now)
            #expect(throws: RateLimited.self) { try limiter.acquire(client, at: now) }
            limiter.refund(client, at: now)
        }
    }
}
