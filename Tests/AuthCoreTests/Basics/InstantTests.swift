import Testing

@testable import AuthCore

struct InstantTests {
    @Test(arguments: [-8_000, -2, -1, 0, 1, 8_000] as [Int64])
    func momentsOfTheMonotonicClockAreRoundedDown(milliseconds: Int64) {
        let moment = ContinuousClock.Instant(milliseconds: milliseconds)
        #expect(moment.milliseconds == milliseconds)
        #expect(moment.advanced(by: .nanoseconds(999_999)).milliseconds == milliseconds)
        #expect(moment.advanced(by: .nanoseconds(-1)).milliseconds == milliseconds - 1)
    }

    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_736_937_000, "2025-01-15T10:30:00Z"),
        (4_107_542_399, "2100-02-28T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (-2_208_988_800, "1900-01-01T00:00:00Z"),
    ])
    func theTextIsRFC3339InUTC(seconds: Int64, text: String) {
        #expect(Instant(seconds: seconds).rfc3339 == text)
    }

    @Test func secondsAreRoundedDownOnBothSidesOfTheEpoch() {
        #expect(Instant(milliseconds: 1999).seconds == 1)
        #expect(Instant(milliseconds: -1).seconds == -1)
        #expect(Instant(milliseconds: -1000).seconds == -1)
    }

    @Test func extremesSaturateInsteadOfTrapping() {
        #expect(Instant(seconds: .max).milliseconds == .max)
        #expect(Instant(seconds: .min).milliseconds == .min)
        #expect(Instant(milliseconds: .max).advanced(by: .seconds(1)).milliseconds == .max)
        #expect(Instant(milliseconds: .min).advanced(by: .seconds(-1)).milliseconds == .min)
        #expect(Instant(seconds: 0).advanced(by: .seconds(Int64.max)).milliseconds == .max)
    }

    @Test func theTimeBetweenTwoInstantsIsSigned() {
        let early = Instant(milliseconds: 1000)
        let late = Instant(milliseconds: 2500)
        #expect(late.since(early) == .milliseconds(1500))
        #expect(early.since(late) == .milliseconds(-1500))
        #expect(early < late)
    }
}
