public import HTTPEngine
internal import StrictJSON

/// Health checks for load balancers and orchestrators. Not rate limited.
public struct OperationsAPI: Sendable {
    private let errors: AgentErrors
    private let isDraining: @Sendable () -> Bool
    private let database: DatabaseProbe
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - isDraining: whether the server is shutting down.
    ///   - pingDatabase: throws when the database does not answer in time. Called at most once a
    ///     second.
    ///   - clock: the monotonic clock.
    public init(
        agent: AgentAPI, isDraining: @escaping @Sendable () -> Bool,
        pingDatabase: @escaping @Sendable () async throws -> Void,
        clock: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        errors = agent.errors
        self.isDraining = isDraining
        database = DatabaseProbe(ping: pingDatabase)
        self.clock = clock
    }

    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/healthz", "/readyz"], errors: errors.renderer,
            routes: [
                Route(.get, "/healthz") { _ in Self.status(.ok, "ok") },
                Route(.get, "/readyz", handler: readiness),
            ])
    }

    /// GET /readyz: 503 while draining or when the database does not answer.
    private func readiness(_ request: Request) async throws -> Response {
        guard !isDraining() else { return Self.status(.serviceUnavailable, "draining") }
        return await database.isAnswering(at: clock())
            ? Self.status(.ok, "ok") : Self.status(.serviceUnavailable, "database unavailable")
    }

    private static func status(_ status: Status, _ text: String) -> Response {
        let headers = status == .serviceUnavailable ? [("Retry-After", "1")] : []
        return .json(status, headers: headers) { $0.member("status", text) }
    }
}
