internal import AuthCore

extension Instant {
    /// A time as an operator writes it: `2026-01-15T10:30:00Z` (RFC 3339, UTC), `2026-01-15` for
    /// its first moment, or an age such as `90m` or `7d`.
    init?(since text: String, now: Instant) {
        if let instant = Instant(rfc3339: text) {
            self = instant
        } else if let age = Syntax.duration(.zero ... .seconds(100 * 365 * 86_400))
            .parse(.string(text))
        {
            self = now.advanced(by: .zero - age)
        } else {
            return nil
        }
    }

    /// RFC 3339 §5.6 in UTC, with `T` and `Z`, whole seconds; or the date alone.
    init?(rfc3339 text: String) {
        let octets = Array(text.utf8)
        guard octets.count == 10 || octets.count == 20, Self.hasSeparators(octets) else {
            return nil
        }
        func number(_ range: Range<Int>) -> Int64 {
            octets[range].reduce(0) { $0 * 10 + Int64($1 &- 0x30) }
        }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), (1...lengths[Int(month) - 1]).contains(day) else {
            return nil
        }
        var seconds = Self.days(year, month, day) * 86_400
        if octets.count == 20 {
            let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
            guard hour < 24, minute < 60, second < 60 else { return nil }
            seconds += hour * 3600 + minute * 60 + second
        }
        self.init(seconds: seconds)
    }

    private static func hasSeparators(_ octets: [UInt8]) -> Bool {
        zip(octets, "0000-00-00T00:00:00Z".utf8).allSatisfy { octet, pattern in
            pattern == UInt8(ascii: "0")
                ? (0x30...0x39).contains(octet) : octet == pattern
        }
    }

    /// Days since 1970-01-01 of the proleptic Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Years that begin in March put the leap day last; 719,468 days lie between 0000-03-01
        // and 1970-01-01.
        let shifted = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        let leaps = shifted >= 0 ? shifted / 4 - shifted / 100 + shifted / 400 : -1
        return shifted * 365 + leaps + (153 * marchMonth + 2) / 5 + day - 1 - 719_468
    }
}
