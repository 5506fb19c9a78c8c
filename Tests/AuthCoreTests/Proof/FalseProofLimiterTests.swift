import AuthCore
import Testing

struct FalseProofLimiterTests {
    private let start = Instant(seconds: 1_800_000_000)
    private let client = ClientAddress(bytes: [192, 0, 2, 1])
    private let other = ClientAddress(bytes: [192, 0, 2, 2])

    @Test func theEleventhFalseDigestInAMinuteIsTheLast() throws {
        let limiter = FalseProofLimiter()
        for _ in 0..<10 {
            limiter.recordFalse(client, at: start)
            try limiter.admit(client, at: start)
        }
        limiter.recordFalse(client, at: start)
        #expect(throws: Refusal.self) { try limiter.admit(client, at: start) }
        try limiter.admit(other, at: start)
    }

    @Test func theWaitItNamesEndsIt() throws {
        let limiter = FalseProofLimiter()
        for _ in 0..<12 { limiter.recordFalse(client, at: start) }
        do {
            try limiter.admit(client, at: start)
            Issue.record("admitted")
        } catch .tooManyRequests(let wait) {
            #expect(wait >= .seconds(1) && wait <= .seconds(60))
            try limiter.admit(client, at: start.advanced(by: wait + .seconds(20)))
        } catch {
            Issue.record("refused with \(error)")
        }
    }

    @Test func turningTheMinuteForgivesNothingAtOnce() {
        let limiter = FalseProofLimiter()
        let lateInTheMinute = start.advanced(by: .seconds(59))
        for _ in 0..<30 { limiter.recordFalse(client, at: lateInTheMinute) }
        let next = start.advanced(by: .seconds(61))
        #expect(throws: Refusal.self) { try limiter.admit(client, at: next) }
    }

    @Test func aFullTableWatchesNoMoreButLocksNobodyOut() throws {
        let limiter = FalseProofLimiter(allowance: 1, capacity: 1)
        for _ in 0..<5 { limiter.recordFalse(client, at: start) }
        for _ in 0..<5 { limiter.recordFalse(other, at: start) }
        #expect(throws: Refusal.self) { try limiter.admit(client, at: start) }
        try limiter.admit(other, at: start)
    }

    @Test func timesOutsideEveryCalendarTrapNothing() throws {
        let limiter = FalseProofLimiter()
        for edge in [Int64.min, -1, 0, .max] {
            limiter.recordFalse(client, at: Instant(milliseconds: edge))
            try limiter.admit(client, at: Instant(milliseconds: edge))
        }
    }
}
