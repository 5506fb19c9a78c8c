import Testing

@testable import AuthCore

struct RateLimiterTests {
    private let start = Instant(seconds: 1_800_000_000)
    private let client = ClientAddress(bytes: [192, 0, 2, 1])
    private let other = ClientAddress(bytes: [192, 0, 2, 2])
    private let limiter = RateLimiter(settings: .init())

    private func caller(at now: Instant) -> Caller {
        Caller(client: client, requestID: "r", now: now)
    }

    private func isTaken(_ limit: RateLimiter.Class, at now: Instant) -> Bool {
        (try? limiter.take(limit, for: client, at: now)) != nil
    }

    @Test(arguments: [
        (RateLimiter.Class.general, 8, Duration.milliseconds(125)),
        (.pro, 20, .milliseconds(50)), (.creation, 1, .seconds(8)),
        (.proCreation, 8, .milliseconds(125)),
    ])
    func theRatesAreTheContracts(limit: RateLimiter.Class, burst: Int, interval: Duration) {
        for _ in 0..<burst { #expect(isTaken(limit, at: start)) }
        #expect(!isTaken(limit, at: start))
        let almost = start.advanced(by: interval - .milliseconds(1))
        #expect(!isTaken(limit, at: almost))
        #expect(isTaken(limit, at: start.advanced(by: interval)))
        #expect(!isTaken(limit, at: start.advanced(by: interval)))
    }

    @Test func aHandfulASecondHasABurstOfOneSecondsWorthUnlessGiven() {
        #expect(RateLimiter.Rate(8, per: .seconds(1)).burst == 8)
        #expect(RateLimiter.Rate(1, per: .seconds(8)).burst == 1)
        #expect(RateLimiter.Rate(3, per: .seconds(1)).burst == 3)
        #expect(RateLimiter.Rate(1, per: .seconds(1), burst: 5).burst == 5)
    }

    @Test func classesAndNetworksAreCountedApart() throws {
        _ = try limiter.take(.creation, for: client, at: start)
        #expect(!isTaken(.creation, at: start))
        _ = try limiter.take(.creation, for: other, at: start)
        #expect(isTaken(.proCreation, at: start))
        #expect(isTaken(.general, at: start))
    }

    @Test func anIPv6Slash64IsOneClient() throws {
        let prefix: [UInt8] = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 1]
        let one = ClientAddress(bytes: prefix + [0, 0, 0, 0, 0, 0, 0, 1])
        let two = ClientAddress(bytes: prefix + [0, 0, 0, 0, 0, 0, 0, 2])
        _ = try limiter.take(.creation, for: one, at: start)
        #expect(throws: Refusal.self) { try limiter.take(.creation, for: two, at: start) }
    }

    @Test func theStatusSaysWhatIsLeftAndWhenAllIsBack() throws {
        let first = try limiter.take(.general, for: client, at: start)
        #expect(first == RateStatus(limit: 8, remaining: 7, secondsToReset: 1))
        for left in (0..<7).reversed() {
            #expect(try limiter.take(.general, for: client, at: start)?.remaining == left)
        }
        let creation = try limiter.take(.creation, for: client, at: start)
        #expect(creation == RateStatus(limit: 1, remaining: 0, secondsToReset: 8))
    }

    @Test func retryAfterIsWholeSecondsThatSuffice() throws {
        for wait in stride(from: Int64(0), to: 8000, by: 333) {
            let limiter = RateLimiter(settings: .init())
            _ = try limiter.take(.creation, for: client, at: start)
            let now = start.advanced(by: .milliseconds(wait))
            do {
                _ = try limiter.take(.creation, for: client, at: now)
                Issue.record("taken after \(wait) ms")
            } catch .tooManyRequests(let retryAfter, _) {
                #expect(retryAfter >= .seconds(1))
                #expect(retryAfter.components.attoseconds == 0)
                #expect(retryAfter < .milliseconds(9000 - wait) || retryAfter == .seconds(1))
                _ = try limiter.take(.creation, for: client, at: now.advanced(by: retryAfter))
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    @Test func switchedOffItCountsNothing() async throws {
        let limiter = RateLimiter(settings: .init(isEnabled: false))
        for _ in 0..<100 {
            #expect(try limiter.take(.creation, for: client, at: start) == nil)
            try await limiter.reserving(.creation, for: caller(at: start)) {}
        }
    }

    @Test func aRateIsASetting() throws {
        let limiter = RateLimiter(
            settings: .init(rates: [.creation: .init(1, per: .seconds(1), burst: 2)]))
        for _ in 0..<2 { _ = try limiter.take(.creation, for: client, at: start) }
        let standing = RateStatus(limit: 2, remaining: 0, secondsToReset: 2)
        #expect(throws: Refusal.tooManyRequests(retryAfter: .seconds(1), standing: standing)) {
            try limiter.take(.creation, for: client, at: start)
        }
        #expect(try limiter.take(.pro, for: client, at: start)?.limit == 20)
    }

    private struct Failed: Error {}

    @Test func aReservationIsTakenBeforeTheBodyAndKeptWhenItSucceeds() async throws {
        let value = try await limiter.reserving(.creation, for: caller(at: start)) {
            #expect(!isTaken(.creation, at: start))
            return 7
        }
        #expect(value == 7)
        #expect(!isTaken(.creation, at: start))
    }

    @Test func aReservationIsGivenBackWhenTheBodyThrows() async throws {
        for _ in 0..<3 {
            await #expect(throws: Failed.self) {
                try await limiter.reserving(.creation, for: caller(at: start)) { throw Failed() }
            }
        }
        #expect(isTaken(.creation, at: start))
    }

    @Test func aReservationIsGivenBackWhenItsTaskIsCancelled() async throws {
        let task = Task { [limiter, caller = caller(at: start)] in
            try await limiter.reserving(.creation, for: caller) {
                withUnsafeCurrentTask { $0?.cancel() }
                try Task.checkCancellation()
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(isTaken(.creation, at: start))
    }

    @Test func aRefusedReservationRunsNothing() async throws {
        #expect(isTaken(.creation, at: start))
        let standing = RateStatus(limit: 1, remaining: 0, secondsToReset: 8)
        let refusal = Refusal.tooManyRequests(retryAfter: .seconds(8), standing: standing)
        await #expect(throws: refusal) {
            try await limiter.reserving(.creation, for: caller(at: start)) {
                Issue.record("the body ran")
            }
        }
        #expect(!isTaken(.creation, at: start))
    }

    @Test func ofManyAtOnceNoMoreThanTheBurstGetThrough() async {
        let taken = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 {
                group.addTask { isTaken(.general, at: start) }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(taken == 8)
    }
}
