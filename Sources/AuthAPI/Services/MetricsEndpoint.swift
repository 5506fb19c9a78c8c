internal import AuthCore
internal import HTTPEngine

/// `/metrics`, for Prometheus.
struct MetricsEndpoint: Sendable {
    let metrics: Metrics
    let access: ServicesAccess
    let pipeline: Pipeline<ServicesError>

    /// GET /metrics
    var route: Route {
        pipeline.route(.get, "/metrics", access.inAuthorization) { _ throws(ServicesError) in
            Response(
                status: .ok,
                headers: [
                    ("Content-Type", "text/plain; version=0.0.4; charset=utf-8"),
                    ("Cache-Control", "no-store"),
                ], body: await metrics.text())
        }
    }
}
