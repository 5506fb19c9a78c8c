internal import Scheduling

/// The value of the `Date` field (RFC 9110 §5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`. It is
/// formatted once a second.
struct HTTPDate: Sendable {
    private var second: Int64?
    private(set) var bytes: [UInt8] = []

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Parameter seconds: since 1970-01-01T00:00:00Z.
    mutating func update(to seconds: Int64) {
        guard seconds != second else { return }
        second = seconds
        bytes = Array(HTTPDate.text(seconds).utf8)
    }

    static func text(_ seconds: Int64) -> String {
        let date = UTCDate(secondsSince1970: seconds)
        let time = [date.hour, date.minute, date.second].map(padded).joined(separator: ":")
        return "\(weekdays[date.weekday]), \(padded(date.day)) \(months[date.month - 1]) "
            + "\(date.year) \(time) GMT"
    }

    private static func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
