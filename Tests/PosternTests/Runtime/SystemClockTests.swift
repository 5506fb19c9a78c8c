import AuthCore
import Glibc
import Testing

@testable import postern

@Suite struct SystemClockTests {
    @Test func itReadsTheTimeOfDay() {
        let before = Int64(time(nil))
        let now = SystemClock.now()
        #expect(now.seconds >= before)
        #expect(now.seconds <= Int64(time(nil)))
    }
}
