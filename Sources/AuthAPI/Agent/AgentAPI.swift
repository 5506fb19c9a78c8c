public import AuthCore
public import HTTPEngine
internal import StrictJSON

/// The agents' surface (contract section 1): `/api/v1/…` and the JMAP session object.
public struct AgentAPI: Sendable {
    let auth: AgentAuth
    let clock: @Sendable () -> Instant
    let errors: AgentErrors
    let jmap: JMAPDirectory

    /// - Parameters:
    ///   - publicURL: this server as its clients see it, without a slash at the end.
    ///   - jmap: where the mail store is.
    public init(
        auth: AgentAuth, publicURL: String, jmap: JMAPDirectory,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.auth = auth
        self.clock = clock
        self.jmap = jmap
        errors = AgentErrors(publicURL: publicURL)
    }

    var publicURL: String { errors.publicURL }

    /// Everything under `/api/v1`, `/.well-known/jmap`, and the mail store's place while there is
    /// none.
    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/api/v1", "/.well-known/jmap"], faults: errors.renderer,
            routes: [
                Route(.post, "/api/v1/challenge", handler: issueChallenge),
                Route(.post, "/api/v1/session", handler: openSession),
                Route(.post, "/api/v1/capability", handler: issueCapability),
                Route(.post, "/api/v1/api-key", handler: renewAPIKey),
                Route(.delete, "/api/v1/account", handler: deleteAccount),
                Route(.get, "/.well-known/jmap", handler: jmapSession),
            ] + missingMailStore)
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
