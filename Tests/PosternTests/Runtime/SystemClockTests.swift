import AuthCore
import Glibc
import Testing

@testable import postern

@Suite struct SystemClockTests {
    @Test func itReadsTheTimeOfDay() {
        // Not time(2), which reads a coarser clock that is some milliseconds behind.
        let seconds = { () -> Int64 in
            var now = timespec()
            clock_gettime(CLOCK_REALTIME, &now)
            return Int64(now.tv_sec)
        }
        let before = seconds()
        let now = SystemClock.now()
        #expect(now.seconds >= before && now.seconds <= seconds())
    }
}
