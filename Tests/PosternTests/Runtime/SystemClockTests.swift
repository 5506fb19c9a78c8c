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

    /// A token whose `iat` is in the future is invalid for Cyrus IMAP, and time(2), which it asks,
    /// begins a second some milliseconds late.
    @Test func noSecondBeginsBeforeThatOfTime2() async throws {
        let left = 1000 - SystemClock.now().milliseconds % 1000
        try await Task.sleep(for: .milliseconds(max(0, left - 20)))
        let end = ContinuousClock.now + .milliseconds(40)
        while ContinuousClock.now < end {
            let now = SystemClock.now()
            let other = Int64(time(nil))
            #expect(now.seconds <= other)
        }
    }
}
