import AuthCore
import Testing

@testable import postern

@Suite struct InstantReadingTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", Int64(0)), ("1970-01-01", 0),
        ("2026-01-15T10:30:00Z", 1_768_473_000),
        ("2000-02-29T23:59:59Z", 951_868_799), ("1969-12-31T23:59:59Z", -1),
        ("2100-03-01", 4_107_542_400), ("0000-01-01", -62_167_219_200),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ])
    func whatIsWrittenIsReadAgain(text: String, seconds: Int64) throws {
        let instant = try #require(Instant(rfc3339: text))
        #expect(instant.seconds == seconds)
        #expect(instant.rfc3339.hasPrefix(text))
    }

    @Test func everyDayOfFourHundredYearsIsReadAsItWasWritten() {
        for day in 0..<146_097 {
            let instant = Instant(seconds: Int64(day) * 86_400 - 200 * 365 * 86_400)
            if Instant(rfc3339: instant.rfc3339) != instant {
                Issue.record("\(instant.rfc3339)")
                return
            }
        }
    }

    @Test(arguments: [
        "", "2026", "2026-1-15", "2026-13-01", "2026-00-01", "2026-02-29", "1900-02-29",
        "2026-01-32", "2026-01-15T24:00:00Z", "2026-01-15T10:60:00Z", "2026-01-15T10:30:60Z",
        "2026-01-15T10:30:00", "2026-01-15 10:30:00Z", "2026-01-15t10:30:00z",
        "2026-01-15T10:30:00+01:00", "2026/01/15", "+026-01-15", "２０26-01-15", "2026-01-1５",
    ])
    func whatIsNoTimeIsNot(text: String) {
        #expect(Instant(rfc3339: text) == nil)
    }

    @Test func anAgeCountsBackFromNow() {
        let now = Instant(seconds: 1_000_000)
        #expect(Instant(since: "1d", now: now) == Instant(seconds: 913_600))
        #expect(Instant(since: "90m", now: now) == Instant(seconds: 994_600))
        #expect(Instant(since: "1970-01-02", now: now) == Instant(seconds: 86_400))
        for text in ["7", "d", "-1d", "1w", "yesterday"] {
            #expect(Instant(since: text, now: now) == nil, "\(text)")
        }
    }
}
