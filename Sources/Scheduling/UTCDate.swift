/// A date and time of day in UTC, in whole seconds, by the proleptic Gregorian calendar. Leap
/// seconds do not exist, as in Unix time.
public struct UTCDate: Hashable, Sendable {
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// 1 to 31.
    public let day: Int
    public let hour: Int
    public let minute: Int
    public let second: Int

    private static let secondsPerDay: Int64 = 86_400
    /// From 0000-03-01 to 1970-01-01. Years that begin in March have the leap day last.
    private static let daysBefore1970: Int64 = 719_468
    /// In 400 years, after which the calendar repeats.
    private static let daysPerEra: Int64 = 146_097

    /// - Parameter seconds: since 1970-01-01T00:00:00Z, negative before.
    public init(secondsSince1970 seconds: Int64) {
        let (days, rest) = Self.divide(seconds, by: Self.secondsPerDay)
        let (era, dayOfEra) = Self.divide(days + Self.daysBefore1970, by: Self.daysPerEra)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        hour = Int(rest / 3600)
        minute = Int(rest % 3600 / 60)
        second = Int(rest % 60)
    }

    /// - Returns: `nil` for a date or time that does not exist, and for years outside 0 to 9999.
    public init?(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0
    ) {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (0...9999).contains(year), (1...12).contains(month),
            (1...lengths[month - 1]).contains(day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Reads RFC 3339 §5.6 in UTC with whole seconds, `2026-01-15T10:30:00Z`, or the date alone,
    /// `2026-01-15`, for its first second.
    public init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        let pattern = Array("0000-00-00T00:00:00Z".utf8)
        guard bytes.count == 10 || bytes.count == pattern.count,
            zip(bytes, pattern).allSatisfy({ byte, sample in
                sample == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == sample
            })
        else { return nil }
        func number(_ range: Range<Int>) -> Int {
            bytes[range].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        guard bytes.count == pattern.count else {
            self.init(year: year, month: month, day: day)
            return
        }
        self.init(
            year: year, month: month, day: day,
            hour: number(11..<13), minute: number(14..<16), second: number(17..<19))
    }

    /// Reads RFC 3339 §5.6 in UTC with a fraction of one to nine digits or without one, and gives
    /// the milliseconds since 1970-01-01T00:00:00Z. Of a fraction the milliseconds count.
    public static func milliseconds(rfc3339 text: String) -> Int64? {
        let bytes = text.utf8
        var whole = text
        var milliseconds: Int64 = 0
        if bytes.count > 20 {
            let start = bytes.index(bytes.startIndex, offsetBy: 19)
            let digits = bytes[start...].dropFirst().dropLast()
            guard bytes[start] == UInt8(ascii: "."), bytes.last == UInt8(ascii: "Z"),
                (1...9).contains(digits.count),
                digits.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            let three = (Array(digits) + [0x30, 0x30]).prefix(3)
            milliseconds = three.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
            whole = String(Substring(bytes[..<start])) + "Z"
        }
        guard whole.utf8.count == 20, let date = UTCDate(rfc3339: whole) else { return nil }
        return date.secondsSince1970 * 1000 + milliseconds
    }

    /// Since 1970-01-01T00:00:00Z, negative before.
    public var secondsSince1970: Int64 {
        // On the first day of Int64 the product overflows, but the sum does not.
        daysSince1970 &* Self.secondsPerDay &+ Int64(hour * 3600 + minute * 60 + second)
    }

    /// 0 for Sunday to 6 for Saturday.
    public var weekday: Int {
        // 1970-01-01 was a Thursday.
        Int(Self.divide(daysSince1970 + 4, by: 7).remainder)
    }

    /// RFC 3339 §5.6, `2026-01-15T10:30:00Z`.
    public var rfc3339: String { rfc3339(milliseconds: 0) }

    /// With milliseconds (0 to 999) where they are not 0, as in `2026-01-15T10:30:00.125Z`.
    public func rfc3339(milliseconds: Int) -> String {
        let longYear = (0...9999).contains(year) ? nil : String(year)
        return String(unsafeUninitializedCapacity: (longYear?.utf8.count ?? 4) + 20) { text in
            var count = 0
            func append(_ byte: UInt8) {
                text[count] = byte
                count += 1
            }
            func append(twoDigits number: Int) {
                append(UInt8(truncatingIfNeeded: 0x30 + number / 10))
                append(UInt8(truncatingIfNeeded: 0x30 + number % 10))
            }
            func append(_ separator: Unicode.Scalar, _ number: Int) {
                append(UInt8(ascii: separator))
                append(twoDigits: number)
            }
            if let longYear {
                for byte in longYear.utf8 { append(byte) }
            } else {
                append(twoDigits: year / 100)
                append(twoDigits: year % 100)
            }
            append("-", month)
            append("-", day)
            append("T", hour)
            append(":", minute)
            append(":", second)
            if milliseconds != 0 {
                append(UInt8(ascii: "."))
                append(UInt8(truncatingIfNeeded: 0x30 + milliseconds / 100))
                append(twoDigits: milliseconds % 100)
            }
            append(UInt8(ascii: "Z"))
            return count
        }
    }

    /// RFC 5322 §3.3 and RFC 9110 §5.6.7, `Sun, 06 Nov 1994 08:49:37 +0000`.
    /// - Parameter zone: how UTC is written.
    public func rfc5322(zone: String = "+0000") -> String {
        func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let time = [hour, minute, second].map(padded).joined(separator: ":")
        return
            "\(Self.weekdays[weekday]), \(padded(day)) \(Self.months[month - 1]) \(year) \(time) "
            + zone
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private var daysSince1970: Int64 {
        let yearFromMarch = Int64(month > 2 ? year : year - 1)
        let (era, yearOfEra) = Self.divide(yearFromMarch, by: 400)
        let monthFromMarch = Int64((month + 9) % 12)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysPerEra + dayOfEra - Self.daysBefore1970
    }

    /// Rounds towards minus infinity: the remainder is never negative.
    private static func divide(
        _ number: Int64, by divisor: Int64
    ) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
