import Testing

@testable import HTTPEngine

@Suite struct MonotonicTimeTests {
    @Test func intervalsAreNeitherNegativeNorEndless() {
        #expect(MonotonicTime.Interval(.milliseconds(1_500)).nanoseconds == 1_500_000_000)
        #expect(MonotonicTime.Interval(.seconds(-5)).nanoseconds == 0)
        let long = MonotonicTime.Interval(.seconds(Int64.max))
        #expect(MonotonicTime.now() + long > MonotonicTime.now())
    }
}
