internal import Scheduling

/// A point in time: milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// The program reads the clock and passes the instant as an argument, so that tests of rules about
/// time need not wait.
public struct Instant: InstantProtocol {
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
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return rest < 0 ? seconds - 1 : seconds
    }

    public static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Saturates at the ends of the range instead of trapping on overflow.
    public func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        return Instant(
            milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time from `earlier` to this instant; negative when `earlier` is later.
    public func since(_ earlier: Instant) -> Duration {
        let (difference, overflow) =
            milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        return .milliseconds(overflow ? Int64.max : difference)
    }

    public func duration(to later: Instant) -> Duration { later.since(self) }

    /// Reads what ``rfc3339`` gives, or the date alone for its first second.
    public init?(rfc3339 text: String) {
        guard let date = UTCDate(rfc3339: text) else { return nil }
        self.init(seconds: date.secondsSince1970)
    }

    /// RFC 3339 in UTC with `Z` and whole seconds, `2026-01-15T10:30:00Z`.
    public var rfc3339: String { UTCDate(secondsSince1970: seconds).rfc3339 }
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
