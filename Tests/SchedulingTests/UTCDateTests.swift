import Scheduling
import TestPrimitives
import Testing

@Suite struct UTCDateTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00Z", 4), (784_111_777, "1994-11-06T08:49:37Z", 0),
        (951_782_400, "2000-02-29T00:00:00Z", 2), (951_868_799, "2000-02-29T23:59:59Z", 2),
        (1_709_251_199, "2024-02-29T23:59:59Z", 4), (1_768_473_000, "2026-01-15T10:30:00Z", 4),
        (4_107_542_399, "2100-02-28T23:59:59Z", 0), (4_107_542_400, "2100-03-01T00:00:00Z", 1),
        (-1, "1969-12-31T23:59:59Z", 3), (-2_208_988_800, "1900-01-01T00:00:00Z", 1),
        (-62_167_219_200, "0000-01-01T00:00:00Z", 6),
        (253_402_300_799, "9999-12-31T23:59:59Z", 5),
    ])
    func secondsAndTextsAreTheSameDate(seconds: Int64, text: String, weekday: Int) throws {
        let date = UTCDate(secondsSince1970: seconds)
        #expect(date.rfc3339 == text)
        #expect(date.weekday == weekday)
        #expect(date.secondsSince1970 == seconds)
        #expect(UTCDate(rfc3339: text) == date)
    }

    @Test func yearsAfter9999AreWrittenWithAllTheirDigits() throws {
        let date = UTCDate(secondsSince1970: 253_402_300_800)
        #expect(date.rfc3339 == "10000-01-01T00:00:00Z")
        #expect(date.rfc3339(milliseconds: 7) == "10000-01-01T00:00:00.007Z")
        let earliest = UTCDate(secondsSince1970: .min)
        #expect(earliest.rfc3339 == "-292277022657-01-27T08:29:52Z")
    }

    @Test func aDateAloneIsItsFirstSecond() throws {
        #expect(UTCDate(rfc3339: "2000-02-29")?.secondsSince1970 == 951_782_400)
    }

    @Test func everyDayOfFourHundredYearsFollowsTheDayBefore() throws {
        var previous = UTCDate(secondsSince1970: -86_400)
        for day in 0..<Int64(146_097) {
            let date = UTCDate(secondsSince1970: day * 86_400)
            let isNextDay =
                (date.year, date.month, date.day)
                == (previous.year, previous.month, previous.day + 1)
            let isNextMonth =
                date.day == 1 && previous.day >= 28
                && (date.year, date.month) == (previous.year, previous.month + 1)
            let isNextYear =
                (date.month, date.day) == (1, 1) && (previous.month, previous.day) == (12, 31)
                && date.year == previous.year + 1
            try #require(isNextDay || isNextMonth || isNextYear, "\(date)")
            try #require(date.weekday == (previous.weekday + 1) % 7)
            try #require(date.secondsSince1970 == day * 86_400)
            let made = UTCDate(year: date.year, month: date.month, day: date.day)
            try #require(made == date)
            previous = date
        }
    }

    @Test(arguments: [5, 6] as [UInt64])
    func anySecondIsTheSameThereAndBack(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for shift in 0..<64 {
            for _ in 0..<20 {
                let seconds = Int64(bitPattern: random.next()) >> Int64(shift)
                #expect(UTCDate(secondsSince1970: seconds).secondsSince1970 == seconds)
            }
        }
        for seconds in [Int64.min, .min + 1, .max - 1, .max] {
            #expect(UTCDate(secondsSince1970: seconds).secondsSince1970 == seconds)
        }
    }

    @Test(arguments: [
        "", "2026", "2026-1-15", "2026-13-01", "2026-00-01", "2026-02-29", "1900-02-29",
        "2100-02-29", "2026-04-31", "2026-01-00", "2026-01-32", "2026-01-15T24:00:00Z",
        "2026-01-15T10:60:00Z", "2026-01-15T10:30:60Z", "2026-01-15T10:30:00",
        "2026-01-15 10:30:00Z", "2026-01-15t10:30:00z", "2026-01-15T10:30:00+01:00", "2026/01/15",
        "+026-01-15", "-026-01-15", "２０26-01-15", "2026-01-1５", "2026-01-15T10:30:00.5Z",
        "2026-01-15\0",
    ])
    func aTextThatIsNoDateIsNotRead(text: String) {
        #expect(UTCDate(rfc3339: text) == nil)
    }

    @Test func aDateThatDoesNotExistIsNotMade() {
        #expect(UTCDate(year: 10_000, month: 1, day: 1) == nil)
        #expect(UTCDate(year: -1, month: 1, day: 1) == nil)
        #expect(UTCDate(year: 2026, month: 1, day: 1, hour: 24) == nil)
        #expect(UTCDate(year: 2026, month: 1, day: 1, minute: 60) == nil)
        #expect(UTCDate(year: 2026, month: 1, day: 1, second: -1) == nil)
    }
}
