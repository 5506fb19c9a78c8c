import Testing

@testable import AuthCore

struct FailureCountTests {
    private let steps = DelaySteps(freeTries: 5, maximum: .seconds(60))
    private let start: Int64 = 1_800_000_000_000

    private func isCounted(_ digest: UInt64, to count: inout FailureCount) -> Bool {
        count.count(digest, at: start, with: steps)
    }

    @Test func theFirstFailuresCostNoDelayAndThenItDoublesUpToTheMaximum() {
        let delays = (Int64(0)...14).map { steps.delay(after: $0) / 1000 }
        #expect(delays == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
        #expect(steps.delay(after: .max) == 60_000)
        #expect(steps.failuresToMaximum == 11)
    }

    @Test(arguments: [
        (Int.min, Duration.seconds(-5)), (.max, .seconds(Int64.max)), (0, .zero),
        (0, .milliseconds(1)),
    ])
    func everySettingGivesABoundedNumberOfFailures(freeTries: Int, maximum: Duration) {
        let steps = DelaySteps(freeTries: freeTries, maximum: maximum)
        #expect((0...10_040).contains(steps.failuresToMaximum))
        #expect(steps.delay(after: .max) == steps.maximum)
        #expect(steps.maximum <= 86_400_000)
    }

    @Test func theCountFallsByOneEachMinute() {
        var count = FailureCount()
        for _ in 0..<4 { count.add(at: start, with: steps) }
        let left = (Int64(0)...5).map { count.failures(at: start + $0 * 60_000) }
        #expect(left == [4, 3, 2, 1, 0, 0])
    }

    @Test func failuresBeyondTheMaximumDelayAreNotCounted() {
        var count = FailureCount()
        for _ in 0..<1000 { count.add(at: start, with: steps) }
        #expect(count.failures(at: start) == steps.failuresToMaximum)
    }

    @Test func aSecretAmongTheLastFourIsNotCountedAgain() {
        var count = FailureCount()
        for digest: UInt64 in 1...4 {
            #expect(isCounted(digest, to: &count))
        }
        for digest: UInt64 in 1...4 {
            #expect(!isCounted(digest, to: &count))
        }
        #expect(count.failures(at: start) == 4)
        #expect(isCounted(5, to: &count))
        #expect(isCounted(1, to: &count))
        #expect(!isCounted(5, to: &count))
    }

    @Test func theWaitRunsFromTheLastFailureOrFromTheAttemptInProgress() {
        var count = FailureCount()
        count.add(at: start, with: steps)
        #expect(count.wait(1000, at: start + 400) == 600)
        #expect(count.wait(1000, at: start + 1000) == 0)
        #expect(count.wait(0, at: start) == 0)
        count.block(for: 1000, at: start + 1000)
        #expect(count.wait(1000, at: start + 1000) == 1000)
        count.block(for: 60_000, at: start + 2000)
        #expect(count.wait(1000, at: start + 2000) == 5000)
    }

    @Test func aClockThatStepsBackMakesNoClientWaitLongerThanTheMaximum() {
        var count = FailureCount()
        for _ in 0..<20 { count.add(at: start, with: steps) }
        count.block(for: 60_000, at: start)
        let earlier = start - 86_400_000
        count.limitTimes(to: earlier, with: steps)
        #expect(count.failures(at: earlier) == steps.failuresToMaximum)
        #expect(count.wait(60_000, at: earlier) == 60_000)
    }
}
