public import AuthCore
public import HTTPEngine
internal import StrictJSON

/// The agents' surface (contract section 1): `/api/v1/…` and the JMAP session object.
public struct AgentAPI: Sendable {
    let auth: AgentAuth
    let errors: AgentErrors
    let jmap: JMAPDirectory
    let gate: Gate

    /// - Parameters:
    ///   - publicURL: this server as its clients see it, without a slash at the end.
    ///   - jmap: where the mail store is.
    ///   - limiter: the one that all surfaces share.
    public init(
        auth: AgentAuth, publicURL: String, jmap: JMAPDirectory, limiter: RateLimiter,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.auth = auth
        self.jmap = jmap
        let errors = AgentErrors(publicURL: publicURL)
        self.errors = errors
        gate = Gate(limiter: limiter, clock: clock) { refusal, _ in errors.render(refusal) }
    }

    var publicURL: String { errors.publicURL }

    /// Everything under `/api/v1`, `/.well-known/jmap`, and the mail store's place while there is
    /// none.
    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/api/v1", "/.well-known/jmap"], errors: errors.renderer,
            routes: [
                Route(.post, "/api/v1/challenge", handler: counted(issueChallenge)),
                Route(.post, "/api/v1/session", handler: counted(openSession)),
                Route(.post, "/api/v1/capability", handler: counted(issueCapability)),
                Route(.post, "/api/v1/api-key", handler: counted(renewAPIKey)),
                Route(.delete, "/api/v1/account", handler: counted(deleteAccount)),
                Route(.get, "/.well-known/jmap", handler: counted(jmapSession)),
            ] + missingMailStore)
    }

    /// Every endpoint of this surface is counted with the requests that have no verified token.
    private func counted(
        _ handler: @escaping @Sendable (Request, Caller) async throws -> Response
    ) -> Handler {
        { request in
            try await gate.admit(request, as: .general) { try await handler(request, $0) }
        }
    }

    /// An answer with a token in its `Authorization` header and next steps in its body.
    func answer(
        _ status: Status, token: String? = nil, next: [String],
        _ fill: (inout JSONWriter) -> Void
    ) -> Response {
        .json(status, headers: token.map { [("Authorization", "Bearer \($0)")] } ?? []) { body in
            fill(&body)
            body.member("_next", next)
        }
    }
}
