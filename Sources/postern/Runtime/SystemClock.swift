internal import AuthCore
internal import Glibc
// Declares `timeval` in this toolchain.
internal import SwiftOverlayShims

/// The wall clock; the only place that reads it.
enum SystemClock {
    static let now: @Sendable () -> Instant = {
        var time = timeval()
        gettimeofday(&time, nil)
        return Instant(
            milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_usec) / 1000)
    }

    /// With the monotonic clock.
    static let clocks = ServerClock(now: now)
}
