internal import AuthCore
internal import Glibc
// Where the toolchain declares `timeval`, the struct that `gettimeofday` fills.
internal import SwiftOverlayShims

/// The one place where the time of day is read.
enum SystemClock {
    static let now: @Sendable () -> Instant = {
        var time = timeval()
        gettimeofday(&time, nil)
        return Instant(
            milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_usec) / 1000)
    }
}
