import AuthCore
import Testing

struct FalseProofLimiterTests {
    private let start = Instant(seconds: 1_800_000_000)
    private let client = ClientAddress(bytes: [192, 0, 2, 1])
    private let other = ClientAddress(bytes: [192, 0, 2, 2])

    @Test func theEleventhFalseDigestInAMinuteIsTheLast() throws {
        let limiter = FalseProofLimiter()
        for _ in 0..<11 { try limiter.admit(client, at: start) }
        #expect(throws: Refusal.self) { try limiter.admit(client, at: start) }
        try limiter.admit(other, at: start)
    }

    @Test func aRightDigestDoesNotCount() throws {
        let limiter = FalseProofLimiter()
        for _ in 0..<100 {
            try limiter.admit(client, at: start)
            limiter.forgive(client, at: start)
        }
        try limiter.admit(client, at: start)
    }

    @Test func aDigestIsForgivenInTheMinuteItCameIn() throws {
        let limiter = FalseProofLimiter(allowance: 0)
        let late = start.advanced(by: .seconds(59))
        let next = start.advanced(by: .seconds(60))
        try limiter.admit(client, at: late)
        #expect(throws: Refusal.self) { try limiter.admit(client, at: next) }
        limiter.forgive(client, at: late)
        try limiter.admit(client, at: next)
    }

    @Test func theWaitItNamesEndsIt() throws {
        let limiter = FalseProofLimiter()
        for _ in 0..<11 { try limiter.admit(client, at: start) }
        do {
            try limiter.admit(client, at: start)
            Issue.record("admitted")
        } catch .tooManyRequests(let wait, _) {
            #expect(wait >= .seconds(1) && wait <= .seconds(60))
            try limiter.admit(client, at: start.advanced(by: wait + .seconds(20)))
        } catch {
            Issue.record("refused with \(error)")
        }
    }

    @Test func turningTheMinuteForgivesNothingAtOnce() throws {
        let limiter = FalseProofLimiter()
        let lateInTheMinute = start.advanced(by: .seconds(59))
        for _ in 0..<11 { try limiter.admit(client, at: lateInTheMinute) }
        let next = start.advanced(by: .seconds(61))
        #expect(throws: Refusal.self) { try limiter.admit(client, at: next) }
    }

    @Test func aFullTableWatchesNoMoreButLocksNobodyOut() throws {
        let limiter = FalseProofLimiter(allowance: 1, capacity: 1)
        for _ in 0..<2 { try limiter.admit(client, at: start) }
        for _ in 0..<5 { try limiter.admit(other, at: start) }
        #expect(throws: Refusal.self) { try limiter.admit(client, at: start) }
    }

    @Test func timesOutsideEveryCalendarTrapNothing() throws {
        let limiter = FalseProofLimiter()
        for edge in [Int64.min, -1, 0, .max] {
            try limiter.admit(client, at: Instant(milliseconds: edge))
            limiter.forgive(client, at: Instant(milliseconds: edge))
        }
    }
}
