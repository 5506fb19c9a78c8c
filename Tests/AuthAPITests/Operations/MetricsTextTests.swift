import Scheduling
import Testing

@testable import AuthAPI

/// The text format of Prometheus, version 0.0.4.
struct MetricsTextTests {
    private func text(_ fill: (inout MetricsText) -> Void) -> String {
        var text = MetricsText()
        fill(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test func aMetricHasItsHelpItsTypeAndItsSamples() {
        let written = text { text in
            text.begin("a_total", .counter, "What a is.")
            text.sample([("kind", "x"), ("result", "y")], 3)
            text.sample([], 4)
            text.gauge("b", "What b is.", 0.5)
            text.gauge("c", "What c is.", 1_700_000_000.0)
        }
        #expect(
            written == """
                # HELP a_total What a is.
                # TYPE a_total counter
                a_total{kind="x",result="y"} 3
                a_total 4
                # HELP b What b is.
                # TYPE b gauge
                b 0.5
                # HELP c What c is.
                # TYPE c gauge
                c 1700000000

                """)
    }

    @Test func valuesOfLabelsAreEscaped() {
        let written = text {
            $0.begin("a", .gauge, "A.")
            $0.sample([("label", "a\"b\\c\nd é")], 1)
        }
        #expect(written.hasSuffix("a{label=\"a\\\"b\\\\c\\nd é\"} 1\n"))
    }

    @Test func theBucketsOfAHistogramIncludeThoseBelowThem() {
        var durations = Histogram(unit: .nanoseconds, bounds: [500_000, 2_000_000_000])
        for value in [1, 500_000, 500_001, 3_000_000_000] { durations.record(value) }
        var sizes = Histogram(unit: .items, bounds: [1])
        sizes.record(7)
        let written = text {
            $0.begin("a", .histogram, "A.")
            $0.sample([("route", "/")], durations)
            $0.begin("b", .histogram, "B.")
            $0.sample([], sizes)
        }
        #expect(
            written == """
                # HELP a A.
                # TYPE a histogram
                a_bucket{route="/",le="0.0005"} 2
                a_bucket{route="/",le="2"} 3
                a_bucket{route="/",le="+Inf"} 4
                a_sum{route="/"} 3.001000002
                a_count{route="/"} 4
                # HELP b B.
                # TYPE b histogram
                b_bucket{le="1"} 0
                b_bucket{le="+Inf"} 1
                b_sum 7
                b_count 1

                """)
    }

    @Test func aSummaryHasASumAndACount() {
        let written = text {
            $0.begin("a", .summary, "A.")
            $0.sample([("statement", "x")], nanoseconds: 1_500_000_000, count: 3)
        }
        #expect(written.hasSuffix("a_sum{statement=\"x\"} 1.5\na_count{statement=\"x\"} 3\n"))
    }

    @Test func sourcesAreWrittenInTheirOrder() async {
        let metrics = Metrics()
        metrics.add { $0.gauge("a", "A.", 1) }
        metrics.add { $0.gauge("b", "B.", 2) }
        let written = String(decoding: await metrics.text(), as: UTF8.self)
        #expect(written.components(of: "# HELP ") == ["a", "b"])
    }
}

extension String {
    /// The words that follow each occurrence of `prefix` at the start of a line.
    fileprivate func components(of prefix: String) -> [String] {
        split(separator: "\n").filter { $0.hasPrefix(prefix) }.map {
            String($0.dropFirst(prefix.count).prefix { $0 != " " })
        }
    }
}
