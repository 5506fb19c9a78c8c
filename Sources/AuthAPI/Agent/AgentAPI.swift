public import AuthCore
internal import Cryptography
public import HTTPEngine
internal import StrictJSON

/// The agent API: `/api/v1/…` and the JMAP session object (docs/api.md, "Agent API").
public struct AgentAPI: Sendable {
    let agents: Agents
    let errors: AgentErrors
    let jmap: JMAPDirectory
    let mail: AccountsMail
    /// The session objects for mail in this process; `nil` unless there is some.
    let localSessions: LocalSessions?
    private let storeSessions: StoreSessions?
    private let steps: AgentSteps
    let pipeline: Pipeline<AgentError>

    /// - Parameters:
    ///   - publicURL: this server as its clients see it, without a slash at the end.
    ///   - jmap: where the mail store is.
    ///   - storeSessions: where session objects come from; made from `jmap` when `nil`.
    ///   - mail: where the mail of accounts is. With mail in this process `jmap` and
    ///     `storeSessions` are not used.
    ///   - limiter: shared by all APIs, as `events`.
    public init(
        agents: Agents, publicURL: String, jmap: JMAPDirectory,
        storeSessions: StoreSessions? = nil, mail: AccountsMail = .none,
        limiter: RateLimiter, events: SecurityEvents,
        clock: ServerClock
    ) {
        self.agents = agents
        self.jmap = jmap
        self.mail = mail
        localSessions = mail.local.map { LocalSessions($0, publicURL: publicURL) }
        self.storeSessions = storeSessions
        steps = AgentSteps(publicURL: publicURL, settings: agents.settings)
        let errors = AgentErrors(publicURL: publicURL)
        self.errors = errors
        pipeline = Pipeline(limiter: limiter, clock: clock, events: events) { error, _ in
            errors.response(error)
        }
    }

    var publicURL: String { errors.publicURL }

    /// Everything under `/api/v1`, `/.well-known/jmap`, and the mail store's path while there is no
    /// mail store.
    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/api/v1", "/.well-known/jmap"], errors: errors.renderer,
            routes: [
                pipeline.route(.post, "/api/v1/challenge", .none(), issueChallenge),
                pipeline.route(.post, "/api/v1/session", body: .json, challenge, openSession),
                pipeline.route(.delete, "/api/v1/session", session, endSession),
                pipeline.route(.post, "/api/v1/capability", sessionOrEmail, issueCapability),
                pipeline.route(.post, "/api/v1/api-key", session, renewAPIKey),
                pipeline.route(.delete, "/api/v1/account", session, deleteAccount),
                pipeline.route(.get, "/.well-known/jmap", capability, showJMAPSession),
            ] + missingMailStore)
    }

    // MARK: Authentication

    private var challenge: Authentication<Agents.PresentedChallenge, AgentError> {
        Authentication(limit: .general) { request, caller throws(AgentError) in
            try await agents.authenticate(challenge: request.bearerToken, at: caller.now)
        }
    }

    private var session: Authentication<Agents.Session, AgentError> {
        Authentication(limit: .general) { request, caller throws(AgentError) in
            try await agents.authenticate(session: request.bearerToken, at: caller.now)
        }
    }

    private var sessionOrEmail: Authentication<Agents.Session, AgentError> {
        Authentication(limit: .general) { request, caller throws(AgentError) in
            try await agents.authenticate(sessionOrEmail: request.bearerToken, at: caller.now)
        }
    }

    var capability: Authentication<Agents.MailAccount, AgentError> {
        Authentication(limit: .general) { request, caller throws(AgentError) in
            try await agents.authenticate(capability: request.bearerToken, at: caller.now)
        }
    }

    // MARK: Endpoints

    /// POST /api/v1/challenge
    private func issueChallenge(_ request: APIRequest<Void>) async throws(AgentError) -> Response {
        let issued = try await agents.issueChallenge(to: request.caller)
        let scrypt = agents.settings.scrypt
        return success(.ok, token: issued.token, next: steps.afterChallenge) { body in
            body.member("difficulty", issued.challenge.difficulty)
            body.member("expiresIn", issued.lifetime.components.seconds)
            body.member("pow") { pow in
                pow.member("algorithm", "scrypt")
                pow.member("N", scrypt.n)
                pow.member("r", scrypt.r)
                pow.member("p", scrypt.p)
                pow.member("dkLen", scrypt.outputBytes)
                pow.member("salt", issued.challenge.salt)
                pow.member("input", "\(issued.challenge.id):<nonce>")
            }
        }
    }

    /// POST /api/v1/session
    private func openSession(
        _ request: APIRequest<Agents.PresentedChallenge>
    ) async throws(AgentError) -> Response {
        let body = try SessionBody(request.http)
        switch body.credential {
        case .username(let username):
            let (session, apiKey) = try await agents.signUp(
                username, challenge: request.principal, proof: body.proof, by: request.caller)
            return success(.created, token: session.token, next: steps.afterSignup) { body in
                body.member("apiKey", apiKey.secret)
                write(session.account, to: &body)
            }
        case .apiKey(let apiKey):
            let session = try await agents.logIn(
                apiKey, challenge: request.principal, proof: body.proof, by: request.caller)
            return success(.ok, token: session.token, next: steps.afterLogin) { body in
                write(session.account, to: &body)
            }
        }
    }

    /// DELETE /api/v1/session
    private func endSession(
        _ request: APIRequest<Agents.Session>
    ) async throws(AgentError) -> Response {
        try await agents.end(request.principal, by: request.caller)
        return Response(status: .noContent)
    }

    /// POST /api/v1/capability
    private func issueCapability(
        _ request: APIRequest<Agents.Session>
    ) async throws(AgentError) -> Response {
        let capability = try await agents.issueCapability(
            for: request.principal, by: request.caller)
        return success(.ok, token: capability.token, next: steps.afterCapability) { body in
            body.member("expiresIn", capability.lifetime.components.seconds)
        }
    }

    /// POST /api/v1/api-key
    private func renewAPIKey(
        _ request: APIRequest<Agents.Session>
    ) async throws(AgentError) -> Response {
        let apiKey = try await agents.renewAPIKey(of: request.principal, by: request.caller)
        return success(.ok, next: steps.afterRenewal) { body in
            body.member("apiKey", apiKey.secret)
        }
    }

    /// DELETE /api/v1/account
    private func deleteAccount(
        _ request: APIRequest<Agents.Session>
    ) async throws(AgentError) -> Response {
        try await agents.deleteAccount(of: request.principal, by: request.caller)
        return Response(status: .noContent)
    }

    /// GET /.well-known/jmap
    private func showJMAPSession(
        _ request: APIRequest<Agents.MailAccount>
    ) async throws(AgentError) -> Response {
        let mailbox = request.principal
        if let localSessions {
            return localSessions.session(of: mail.account(of: mailbox.account))
        }
        guard let storeSessions else { return jmap.session(of: mailbox) }
        let sent = storeSessions.sendsStoreToken ? nil : request.http.bearerToken
        return try await storeSessions.session(of: mailbox.subject, by: request.caller) {
            [agents, caller = request.caller] () async throws(AgentError) in
            if let sent { return sent }
            return try await agents.storeToken(for: mailbox, to: caller)
        }
    }

    /// The mail store's API path on this server, as long as there is no mail store.
    private var missingMailStore: [Route] {
        guard localSessions == nil, !jmap.hasMailStore else { return [] }
        return [Method.post, .get].map { method in
            pipeline.route(method, jmap.paths.api, .none()) { _ throws(AgentError) in
                throw .mailStoreMissing
            }
        }
    }

    // MARK: Responses

    /// A response with a token in its `Authorization` header and the next steps in its body.
    private func success(
        _ status: Status, token: String? = nil, next: [String],
        _ fill: (inout JSONWriter) -> Void
    ) -> Response {
        .json(status, headers: token.map { [("Authorization", "Bearer \($0)")] } ?? []) { body in
            fill(&body)
            body.member("_next", next)
        }
    }

    private func write(_ account: Account, to body: inout JSONWriter) {
        body.member("inbox", account.address.description)
        body.member("accountId", account.id.text)
    }
}
