internal import CSocket

/// A point on the monotonic clock. Only the loop reads the clock; everything else is told.
struct MonotonicTime: Comparable, Sendable {
    var nanoseconds: Int64

    static func now() -> MonotonicTime { MonotonicTime(nanoseconds: csocket_nanoseconds()) }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    static func + (moment: MonotonicTime, span: Interval) -> MonotonicTime {
        MonotonicTime(nanoseconds: moment.nanoseconds &+ span.nanoseconds)
    }

    func duration(since earlier: MonotonicTime) -> Duration {
        .nanoseconds(nanoseconds - earlier.nanoseconds)
    }

    /// A deadline's length; one of more than a century is a century.
    struct Interval: Sendable {
        let nanoseconds: Int64

        init(_ duration: Duration) {
            let (seconds, attoseconds) = duration.components
            let whole = min(max(0, seconds), 3_155_760_000)
            nanoseconds = whole * 1_000_000_000 + max(0, attoseconds) / 1_000_000_000
        }
    }
}
