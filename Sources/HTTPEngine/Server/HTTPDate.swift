/// IMF-fixdate (RFC 9110 §5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`, kept for the second it is for.
struct HTTPDate: Sendable {
    private var second: Int64?
    private(set) var bytes: [UInt8] = []

    /// - Parameter seconds: since 1970-01-01T00:00:00Z.
    mutating func update(to seconds: Int64) {
        guard seconds != second else { return }
        second = seconds
        bytes = Array(HTTPDate.text(seconds).utf8)
    }

    static func text(_ seconds: Int64) -> String {
        let days = Int(seconds / 86_400)
        let rest = Int(seconds % 86_400)
        let (year, month, day) = civil(days)
        let time = [rest / 3_600, rest / 60 % 60, rest % 60].map(padded).joined(separator: ":")
        // 1970-01-01 was a Thursday.
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][days % 7]
        return "\(weekday), \(padded(day)) \(months[month - 1]) \(year) \(time) GMT"
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }

    /// Days since the epoch to a Gregorian date, counting years from March so that the leap day
    /// is a year's last.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
