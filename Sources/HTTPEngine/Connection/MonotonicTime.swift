internal import CSocket

/// A point on the monotonic clock. Only the loop reads the clock; everything else gets the time as
/// an argument.
struct MonotonicTime: Comparable, Sendable {
    var nanoseconds: Int64

    static func now() -> MonotonicTime { MonotonicTime(nanoseconds: csocket_nanoseconds()) }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    static func + (time: MonotonicTime, interval: Interval) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds &+ interval.nanoseconds)
    }

    func duration(since earlier: MonotonicTime) -> Duration {
        .nanoseconds(nanoseconds - earlier.nanoseconds)
    }

    /// A length of time; one of more than a century is a century, a negative one is zero.
    struct Interval: Sendable {
        let nanoseconds: Int64

        init(_ duration: Duration) {
            let (seconds, attoseconds) = duration.components
            let whole = min(max(0, seconds), 3_155_760_000)
            nanoseconds = whole * 1_000_000_000 + max(0, attoseconds) / 1_000_000_000
        }
    }
}
