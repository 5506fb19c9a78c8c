import Scheduling
import Testing

struct HistogramTests {
    @Test func aValueCountsUpToTheFirstBoundThatIsNotBelowIt() {
        var histogram = Histogram(unit: .items, bounds: [1, 10])
        for value in [0, 1, 2, 10, 11, 1000] { histogram.record(value) }
        #expect(histogram.counts == [2, 2, 2])
        #expect(histogram.count == 6 && histogram.sum == 1024)
    }

    @Test func addingCountsTheValuesOfBoth() {
        var histogram = Histogram.durations
        histogram.record(100_000)
        var other = Histogram.durations
        other.record(11_000_000_000)
        histogram.add(other)
        #expect(histogram.counts.first == 1 && histogram.counts.last == 1)
        #expect(histogram.sum == 11_000_100_000 && other.count == 1)
    }

    @Test(arguments: [Histogram.durations, .sizes])
    func boundsAscend(histogram: Histogram) {
        #expect(histogram.bounds == histogram.bounds.sorted())
        #expect(Set(histogram.bounds).count == histogram.bounds.count)
    }
}
