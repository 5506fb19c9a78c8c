/// The two clocks of a server. Tests replace them.
public struct ServerClock: Sendable {
    /// The wall clock, for what is written into tokens, rows and logs. It may be set back or
    /// forward at any time.
    public let now: @Sendable () -> Instant
    /// The monotonic clock, for limits and waits.
    public let monotonic: @Sendable () -> ContinuousClock.Instant

    public init(
        now: @escaping @Sendable () -> Instant,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.now = now
        self.monotonic = monotonic
    }
}

extension ContinuousClock.Instant {
    /// A moment in the life of this process. Limits compute with milliseconds since then.
    private static let origin = ContinuousClock.now

    init(milliseconds: Int64) {
        self = Self.origin.advanced(by: .milliseconds(milliseconds))
    }

    /// Rounded down, also for moments before the origin, so that a difference in whole milliseconds
    /// stays exact. Saturates at the ends of the range.
    var milliseconds: Int64 {
        let duration = Self.origin.duration(to: self)
        let rounded = duration.wholeMilliseconds
        return duration < .milliseconds(rounded) && rounded > .min ? rounded - 1 : rounded
    }
}
