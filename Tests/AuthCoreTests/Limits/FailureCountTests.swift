import Testing

@testable import AuthCore

struct FailureCountTests {
    private let steps = DelaySteps(freeTries: 5, per: .seconds(300), maximum: .seconds(60))
    private let start: Int64 = 1_800_000_000_000

    private func fail(_ count: inout FailureCount) {
        count.begin(at: start)
        count.end(isFailure: true, begunAt: start, with: steps)
    }

    @Test func theFirstFailuresCostNoDelayAndThenItDoublesUpToTheMaximum() {
        let delays = (Int64(0)...12).map { Duration.milliseconds(steps.delay(after: $0)) }
        let seconds = [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]
        #expect(delays == seconds.map { .seconds($0) })
        #expect(steps.delay(after: .max) == 60_000)
        #expect(steps.failuresToMaximum == 11)
    }

    @Test(arguments: [
        (Int.min, Duration.seconds(-5)), (.max, .seconds(Int64.max)), (0, .zero),
        (0, .milliseconds(1)),
    ])
    func everySettingGivesABoundedNumberOfFailures(freeTries: Int, length: Duration) {
        let steps = DelaySteps(freeTries: freeTries, per: length, maximum: length)
        #expect((0...10_040).contains(steps.failuresToMaximum))
        #expect(steps.delay(after: .max) == steps.maximum)
        #expect(steps.maximum <= 86_400_000)
        #expect((1...86_400_000).contains(steps.decayInterval))
    }

    @Test func asManyFailuresAsAreFreeAreForgottenInThePeriod() {
        var count = FailureCount()
        for _ in 0..<4 { fail(&count) }
        let left = (Int64(0)...5).map { count.failures(at: start + $0 * 60_000, with: steps) }
        #expect(left == [4, 3, 2, 1, 0, 0])
        #expect(
            DelaySteps(freeTries: 100, per: .seconds(600), maximum: .zero).decayInterval == 6000)
    }

    @Test func failuresBeyondTheMaximumDelayAreNotCounted() {
        var count = FailureCount()
        for _ in 0..<1000 { fail(&count) }
        #expect(count.failures(at: start, with: steps) == steps.failuresToMaximum)
    }

    @Test func anAttemptIsPendingUntilItEnds() {
        var count = FailureCount()
        count.begin(at: start)
        count.begin(at: start)
        #expect(count.pending == 2 && count.failures(at: start, with: steps) == 0)
        count.end(isFailure: false, begunAt: start, with: steps)
        count.end(isFailure: true, begunAt: start, with: steps)
        #expect(count.pending == 0 && count.failures(at: start, with: steps) == 1)
        count.end(isFailure: false, begunAt: start, with: steps)
        #expect(count.pending == 0)
        count.clearFailures()
        #expect(count.failures(at: start, with: steps) == 0)
    }

    @Test func theWaitRunsFromTheLastAttempt() {
        var count = FailureCount()
        count.begin(at: start)
        #expect(count.wait(1000, at: start + 400) == 600)
        #expect(count.wait(1000, at: start + 1000) == 0)
        #expect(count.wait(0, at: start) == 0)
    }

    @Test func anEarlierTimeAfterALaterOneMakesNoClientWaitLongerThanTheMaximum() {
        var count = FailureCount()
        for _ in 0..<20 { fail(&count) }
        let earlier = start - 86_400_000
        count.limitTimes(to: earlier, with: steps)
        #expect(count.failures(at: earlier, with: steps) == steps.failuresToMaximum)
        #expect(count.wait(60_000, at: earlier) == 60_000)
    }
}
