public import HTTPEngine
internal import StrictJSON

/// Health checks for load balancers and orchestrators. Not rate limited.
public struct OperationsAPI: Sendable {
    private let errors: AgentErrors
    private let isDraining: @Sendable () -> Bool
    private let pingDatabase: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - isDraining: whether the server is shutting down.
    ///   - pingDatabase: throws when the database does not answer in time.
    public init(
        agent: AgentAPI, isDraining: @escaping @Sendable () -> Bool,
        pingDatabase: @escaping @Sendable () async throws -> Void
    ) {
        errors = agent.errors
        self.isDraining = isDraining
        self.pingDatabase = pingDatabase
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
        do {
            try await pingDatabase()
        } catch {
            // The cause does not matter to a load balancer.
            return Self.status(.serviceUnavailable, "database unavailable")
        }
        return Self.status(.ok, "ok")
    }

    private static func status(_ status: Status, _ text: String) -> Response {
        let headers = status == .serviceUnavailable ? [("Retry-After", "1")] : []
        return .json(status, headers: headers) { $0.member("status", text) }
    }
}
