import TestSupport
import Testing

@testable import AuthCore

@Suite struct AdjustableClockTests {
    private let system = TestClock()
    private let clock: AdjustableClock

    init() {
        clock = AdjustableClock(system.clocks)
    }

    @Test func untilItIsSetItIsTheSystems() {
        #expect(clock.now == system.now)
        #expect(clock.clocks.now() == system.now)
        #expect(clock.clocks.monotonic() == system.monotonic)
        system.advance(by: .seconds(5))
        #expect(clock.now == system.now)
        #expect(clock.clocks.monotonic() == system.monotonic)
    }

    @Test func itGoesOnFromTheTimeThatItWasSetTo() {
        let later = system.now.advanced(by: .seconds(1000))
        #expect(clock.set(to: later))
        #expect(clock.now == later)
        system.advance(by: .seconds(7))
        #expect(clock.clocks.now() == later.advanced(by: .seconds(7)))
        #expect(clock.clocks.monotonic() == system.monotonic + .seconds(1000))
    }

    @Test func theMonotonicClockNeverGoesBack() {
        #expect(clock.set(to: system.now.advanced(by: .seconds(1000))))
        #expect(!clock.set(to: Instant(seconds: 0)))
        #expect(clock.now == Instant(seconds: 0))
        #expect(clock.clocks.monotonic() == system.monotonic + .seconds(1000))
        #expect(!clock.set(to: Instant(seconds: 0)))
        #expect(clock.set(to: Instant(seconds: 10)))
        #expect(clock.clocks.monotonic() == system.monotonic + .seconds(1010))
    }

    @Test func aResetIsTheSystemsTimeAndClearsEveryLimit() throws {
        let limiter = RateLimiter(
            settings: .init(rates: [
                .creation: .init(1, per: .seconds(86_400)),
                .hashLogin: .init(1, per: .seconds(1), burst: 1_000_000),
            ]))
        let client = AgentWorld.client
        func take(_ limit: RateLimiter.Class) throws -> RateLimitStatus? {
            try limiter.take(limit, for: client, at: clock.clocks.monotonic())
        }
        let before = [try take(.creation), try take(.hashLogin)]
        #expect(throws: RateLimited.self) { try take(.creation) }
        for _ in 0..<1000 { _ = try take(.hashLogin) }
        clock.reset()
        #expect(clock.now == system.now)
        #expect([try take(.creation), try take(.hashLogin)] == before)
    }

    @Test func noNumberOfStepsOverflows() throws {
        let limiter = RateLimiter(settings: .init())
        for _ in 0..<50_000 {
            #expect(clock.set(to: AdjustableClock.times.upperBound))
            clock.reset()
        }
        _ = try limiter.take(.client, for: AgentWorld.client, at: clock.clocks.monotonic())
    }
}
