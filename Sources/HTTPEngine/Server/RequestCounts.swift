public import Scheduling

/// The requests, received bytes and sent bytes of a loop since the start. It belongs to its loop:
/// counting takes no lock, and shares no cache line with other loops.
///
/// Memory is bounded: a route answers with few statuses, and all unknown methods count as one.
struct RequestCounts: Sendable {
    private struct Series: Sendable {
        let method: Method
        let status: Int
        var count = 0
    }

    private struct Row: Sendable {
        var series: [Series] = []
        var durations = Histogram.durations
    }

    /// The method of requests with an unknown one, and of those whose request line cannot be read.
    private static let otherMethod = Method("other")
    private static let knownMethods: [Method] = [
        .get, .head, .post, .put, .delete, .options, .connect, .trace,
    ]

    private var rows: [Row]
    var receivedBytes = 0
    var sentBytes = 0
    /// Requests of listeners for netstrings.
    var netstrings = 0

    /// - Parameter rows: how many routes are counted apart.
    init(rows: Int) {
        self.rows = Array(repeating: Row(), count: rows)
    }

    /// Counts one request.
    /// - Parameters:
    ///   - row: of the route.
    ///   - method: nil where it could not be read.
    mutating func count(_ row: Int, _ method: Method?, status: Int, nanoseconds: Int) {
        rows[row].durations.record(nanoseconds)
        let method = method ?? Self.otherMethod
        // The first attempt does not check whether the method is known, because nearly all requests
        // are counted here.
        if increment(row, method, status) { return }
        let known = Self.knownMethods.contains(method) ? method : Self.otherMethod
        if increment(row, known, status) { return }
        rows[row].series.append(Series(method: known, status: status, count: 1))
    }

    /// - Returns: false when there is no such series yet.
    private mutating func increment(
        _ row: Int, _ method: Method, _ status: Int, by number: Int = 1
    ) -> Bool {
        let index = rows[row].series.firstIndex { $0.status == status && $0.method == method }
        guard let index else { return false }
        rows[row].series[index].count &+= number
        return true
    }

    /// Adds what another loop of the same server has counted.
    mutating func add(_ other: RequestCounts) {
        for index in rows.indices {
            rows[index].durations.add(other.rows[index].durations)
            for series in other.rows[index].series {
                if !increment(index, series.method, series.status, by: series.count) {
                    rows[index].series.append(series)
                }
            }
        }
        receivedBytes &+= other.receivedBytes
        sentBytes &+= other.sentBytes
        netstrings &+= other.netstrings
    }

    /// - Parameter routes: the names of the rows.
    func traffic(of routes: [String]) -> ServerTraffic {
        let used = zip(routes, rows).filter { !$0.1.series.isEmpty }
        return ServerTraffic(
            requests: used.flatMap { route, row in
                row.series.map {
                    .init(
                        route: route, method: $0.method.name, status: $0.status, count: $0.count)
                }
            }, durations: used.map { ($0.0, $0.1.durations) },
            netstrings: netstrings, receivedBytes: receivedBytes, sentBytes: sentBytes)
    }
}

/// The requests, received bytes and sent bytes of a server since the start, for metrics.
public struct ServerTraffic: Sendable {
    /// The requests of one route with one method and one status.
    public struct Requests: Equatable, Sendable {
        /// The template; `-` for requests without a route.
        public let route: String
        /// `other` for methods that HTTP does not define.
        public let method: String
        /// As in ``AccessRecord/status``.
        public let status: Int
        public let count: Int
    }

    public let requests: [Requests]
    /// How long the requests of each route took, from the first byte to the end of the handler.
    public let durations: [(route: String, histogram: Histogram)]
    /// Requests of listeners for netstrings.
    public let netstrings: Int
    /// Bytes that were read from connections, and sent to them.
    public let receivedBytes: Int
    public let sentBytes: Int
}
