internal import AuthAPI
internal import HTTPEngine

extension Metrics {
    /// What the HTTP engine counts.
    nonisolated func add(_ server: Server) {
        add { text in
            text.write(await server.traffic())
            text.write(server.statistics)
        }
    }
}

extension Metrics {
    /// - Parameter expiries: ``Certificates/expiries`` of the present ones; none without TLS.
    nonisolated func addCertificates(
        _ expiries: @escaping @Sendable () -> [(path: String, seconds: Int64)]
    ) {
        add { text in
            text.begin(
                "postern_tls_certificate_expiry_timestamp_seconds", .gauge,
                "When the certificate that is in use expires, since 1970.")
            var seen: Set<String> = []
            for (path, seconds) in expiries() where seen.insert(path).inserted {
                text.sample([("certificate", path)], Int(seconds))
            }
        }
    }
}

extension MetricsText {
    fileprivate mutating func write(_ traffic: ServerTraffic) {
        begin(
            "postern_http_requests_total", .counter,
            "Requests that were answered, rejected ones included.")
        for requests in traffic.requests {
            sample(
                [
                    ("route", requests.route), ("method", requests.method),
                    ("status", String(requests.status)),
                ], requests.count)
        }
        begin(
            "postern_http_request_duration_seconds", .histogram,
            "From the first byte of a request to the end of its handler.")
        for (route, histogram) in traffic.durations { sample([("route", route)], histogram) }
        counter(
            "postern_socketmap_requests_total", "Look-ups that were answered.",
            traffic.netstrings)
        counter(
            "postern_network_received_bytes_total", "Bytes read from connections.",
            traffic.receivedBytes)
        counter(
            "postern_network_sent_bytes_total", "Bytes sent to connections.", traffic.sentBytes)
    }

    fileprivate mutating func write(_ statistics: ServerStatistics) {
        gauge(
            "postern_connections_open",
            "Connections to the public listener that are open.", statistics.openConnections)
        counter(
            "postern_connections_accepted_total",
            "Connections to the public listener within the limits.",
            statistics.acceptedConnections)
        begin(
            "postern_rejections_total", .counter,
            "Connections and requests that were rejected unread, by reason.")
        for reason in ServerStatistics.Rejection.allCases {
            sample([("reason", reason.rawValue)], statistics.rejections[reason] ?? 0)
        }
        gauge(
            "postern_http_requests_in_flight", "Requests whose handler runs.",
            statistics.requestsInFlight)
        gauge(
            "postern_http_buffered_bytes",
            "Bytes of requests and responses in memory beyond 8 KiB for each connection.",
            statistics.bufferedBytes)
    }
}
