import Scheduling
import Testing

struct FoldedReportsTests {
    private let start = ContinuousClock.now

    @Test func theReportsOfAMinuteAreCountedForTheNextOne() {
        var reports = FoldedReports<ContinuousClock.Instant>()
        #expect(reports.note(at: start) == 1)
        for second in 0..<60 {
            #expect(reports.note(at: start.advanced(by: .seconds(second))) == nil)
        }
        #expect(reports.note(at: start.advanced(by: .seconds(60))) == 61)
        #expect(reports.note(at: start.advanced(by: .seconds(61))) == nil)
        #expect(reports.note(at: start.advanced(by: .seconds(500))) == 2)
        #expect(reports.note(at: start.advanced(by: .seconds(560))) == 1)
    }

    @Test func aClockThatIsSetBackHidesNoReport() {
        var reports = FoldedReports<ContinuousClock.Instant>()
        #expect(reports.note(at: start) == 1)
        #expect(reports.note(at: start.advanced(by: .seconds(-1))) == 1)
    }
}
