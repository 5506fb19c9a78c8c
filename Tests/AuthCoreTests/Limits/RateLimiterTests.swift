import Networking
import Testing

@testable import AuthCore

struct RateLimiterTests {
    private let start = ContinuousClock.Instant(milliseconds: 1_800_000_000_000)
    private let client = IPAddress(v4: 0xc000_0201)
    private let other = IPAddress(v4: 0xc000_0202)
    private let limiter = RateLimiter(settings: .init())

    private func caller(at now: ContinuousClock.Instant) -> Caller {
        Caller(address: client, requestID: "r", now: Instant(seconds: 0), arrival: now)
    }

    private func isTaken(_ limit: RateLimiter.Class, at now: ContinuousClock.Instant) -> Bool {
        (try? limiter.take(limit, for: client, at: now)) != nil
    }

    @Test(arguments: [
        (RateLimiter.Class.client, 20, Duration.milliseconds(50)),
        (.general, 8, .milliseconds(125)), (.pro, 20, .milliseconds(50)),
        (.creation, 1, .seconds(8)), (.proCreation, 8, .milliseconds(125)),
        (.hashLogin, 5, .seconds(1)),
    ])
    func eachClassHasItsDocumentedRate(limit: RateLimiter.Class, burst: Int, interval: Duration) {
        for _ in 0..<burst { #expect(isTaken(limit, at: start)) }
        #expect(!isTaken(limit, at: start))
        let almost = start.advanced(by: interval - .milliseconds(1))
        #expect(!isTaken(limit, at: almost))
        #expect(isTaken(limit, at: start.advanced(by: interval)))
        #expect(!isTaken(limit, at: start.advanced(by: interval)))
    }

    @Test func whatWasTakenStaysTakenInClassesWhoseRateIsTheSame() {
        for _ in 0..<8 { #expect(isTaken(.general, at: start)) }
        #expect(isTaken(.creation, at: start))
        let next = RateLimiter(
            settings: .init(rates: [.creation: .init(1, per: .seconds(20))]), keeping: limiter)
        #expect(throws: RateLimited.self) { try next.take(.general, for: client, at: start) }
        // A client that waited for the earlier rate does not wait for it and then for the new one.
        #expect(throws: Never.self) { try next.take(.creation, for: client, at: start) }
        #expect(throws: RateLimited.self) {
            try next.take(.creation, for: client, at: start.advanced(by: .seconds(19)))
        }
        // Both take from one bucket while requests of both are answered.
        let later = start.advanced(by: .milliseconds(125))
        #expect(isTaken(.general, at: later))
        #expect(throws: RateLimited.self) { try next.take(.general, for: client, at: later) }
        // Metrics read the number of the first limiter.
        #expect(limiter.rejections(of: .general) == 2 && limiter.rejections(of: .creation) == 1)
    }

    @Test func theBurstIsOneSecondsWorthUnlessGiven() {
        #expect(RateLimiter.Rate(8, per: .seconds(1)).burst == 8)
        #expect(RateLimiter.Rate(1, per: .seconds(8)).burst == 1)
        #expect(RateLimiter.Rate(3, per: .seconds(1)).burst == 3)
        #expect(RateLimiter.Rate(1, per: .seconds(1), burst: 5).burst == 5)
    }

    @Test func classesAndClientsAreCountedApart() throws {
        _ = try limiter.take(.creation, for: client, at: start)
        #expect(!isTaken(.creation, at: start))
        _ = try limiter.take(.creation, for: other, at: start)
        #expect(isTaken(.proCreation, at: start))
        #expect(isTaken(.general, at: start))
    }

    @Test func anIPv6Slash64IsOneClient() throws {
        let one = IPAddress(v6: 0x2001_0db8_0000_0001, 1)
        let two = IPAddress(v6: 0x2001_0db8_0000_0001, 2)
        _ = try limiter.take(.creation, for: one, at: start)
        #expect(throws: RateLimited.self) { try limiter.take(.creation, for: two, at: start) }
    }

    @Test func theStatusHasWhatIsLeftAndWhenAllIsAvailableAgain() throws {
        let first = try limiter.take(.general, for: client, at: start)
        #expect(first == RateLimitStatus(limit: 8, remaining: 7, secondsToReset: 1))
        for left in (0..<7).reversed() {
            #expect(try limiter.take(.general, for: client, at: start)?.remaining == left)
        }
        let creation = try limiter.take(.creation, for: client, at: start)
        #expect(creation == RateLimitStatus(limit: 1, remaining: 0, secondsToReset: 8))
    }

    @Test func retryAfterIsASufficientNumberOfWholeSeconds() throws {
        for wait in stride(from: Int64(0), to: 8000, by: 333) {
            let limiter = RateLimiter(settings: .init())
            _ = try limiter.take(.creation, for: client, at: start)
            let now = start.advanced(by: .milliseconds(wait))
            do {
                _ = try limiter.take(.creation, for: client, at: now)
                Issue.record("taken after \(wait) ms")
            } catch {
                let retryAfter = error.retryAfter
                #expect(retryAfter >= .seconds(1))
                #expect(retryAfter.components.attoseconds == 0)
                #expect(retryAfter < .milliseconds(9000 - wait) || retryAfter == .seconds(1))
                _ = try limiter.take(.creation, for: client, at: now.advanced(by: retryAfter))
            }
        }
    }

    @Test func aDisabledLimiterCountsNothing() throws {
        let limiter = RateLimiter(settings: .init(isEnabled: false))
        for _ in 0..<100 {
            #expect(try limiter.take(.creation, for: client, at: start) == nil)
            _ = try limiter.reserve(.creation, for: caller(at: start))
        }
    }

    @Test func aRateIsASetting() throws {
        let limiter = RateLimiter(
            settings: .init(rates: [.creation: .init(1, per: .seconds(1), burst: 2)]))
        for _ in 0..<2 { _ = try limiter.take(.creation, for: client, at: start) }
        let status = RateLimitStatus(limit: 2, remaining: 0, secondsToReset: 2)
        #expect(throws: RateLimited(retryAfter: .seconds(1), status: status)) {
            try limiter.take(.creation, for: client, at: start)
        }
        #expect(try limiter.take(.pro, for: client, at: start)?.limit == 20)
    }

    @Test func aReservationTakesATokenAtOnce() throws {
        _ = try limiter.reserve(.creation, for: caller(at: start))
        #expect(!isTaken(.creation, at: start))
    }

    @Test func aCancelledReservationGivesItsTokenBack() throws {
        for _ in 0..<3 {
            let reservation = try limiter.reserve(.creation, for: caller(at: start))
            #expect(!isTaken(.creation, at: start))
            reservation.cancel()
        }
        #expect(isTaken(.creation, at: start))
        #expect(!isTaken(.creation, at: start))
    }

    @Test func aCancellationGivesNothingBackThatTimeHasReplaced() throws {
        let reservation = try limiter.reserve(.creation, for: caller(at: start))
        let later = start.advanced(by: .seconds(9))
        #expect(isTaken(.creation, at: later))
        reservation.cancel()
        #expect(!isTaken(.creation, at: later))
    }

    @Test func anEmptyBucketRejectsAReservationAndKeepsItsState() throws {
        #expect(isTaken(.creation, at: start))
        let status = RateLimitStatus(limit: 1, remaining: 0, secondsToReset: 8)
        #expect(throws: RateLimited(retryAfter: .seconds(8), status: status)) {
            try limiter.reserve(.creation, for: caller(at: start))
        }
        #expect(!isTaken(.creation, at: start.advanced(by: .milliseconds(7999))))
        #expect(isTaken(.creation, at: start.advanced(by: .seconds(8))))
    }

    @Test func ofManyConcurrentCallsOnlyTheBurstSucceeds() async {
        let taken = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 {
                group.addTask { isTaken(.general, at: start) }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(taken == 8)
    }
}
