internal import AuthCore
internal import CProcess

/// The wall clock; the only place that reads it.
enum SystemClock {
    static let now: @Sendable () -> Instant = {
        Instant(milliseconds: cprocess_wall_milliseconds())
    }

    /// With the monotonic clock.
    static let clocks = ServerClock(now: now)
}
