/// A point in time: milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// Read from a clock in one place (the program) and handed down, so that every rule about time can
/// be tested without waiting.
public struct Instant: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// - Parameter seconds: whole seconds since 1970, as in a JWT `NumericDate` (RFC 7519 §2).
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 {
        milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
    }

    public static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Saturates instead of trapping: a lifetime set to centuries is not a crash.
    public func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        return Instant(
            milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// What lies between `earlier` and this; negative when `earlier` is later.
    public func since(_ earlier: Instant) -> Duration {
        let (difference, overflow) =
            milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return .milliseconds(overflow ? Int64.max : difference)
    }

    /// RFC 3339 in UTC with `Z` and whole seconds, `2026-01-15T10:30:00Z`.
    public var rfc3339: String {
        let date = CivilTime(secondsSince1970: seconds)
        func pad(_ value: Int64, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(pad(date.year, 4))-\(pad(date.month, 2))-\(pad(date.day, 2))"
            + "T\(pad(date.hour, 2)):\(pad(date.minute, 2)):\(pad(date.second, 2))Z"
    }
}

extension Duration {
    /// Rounded towards zero, saturating.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carried) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }
}

/// The proleptic Gregorian calendar in UTC.
private struct CivilTime {
    let year, month, day, hour, minute, second: Int64

    init(secondsSince1970: Int64) {
        let secondsADay: Int64 = 86_400
        var days = secondsSince1970 / secondsADay
        var rest = secondsSince1970 % secondsADay
        if rest < 0 {
            rest += secondsADay
            days -= 1
        }
        // Years that begin in March put the leap day last; 719,468 days lie between 0000-03-01
        // and 1970-01-01, 146,097 in each era of 400 years.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = rest / 3600
        minute = rest % 3600 / 60
        second = rest % 60
    }
}
