internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/user/sessions/…`.
struct SessionEndpoints: Sendable {
    let sessions: UserSessions
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        [
            pipeline.route(.get, "/api/user/sessions", access.session, list),
            pipeline.route(.delete, "/api/user/sessions", access.session, endOthers),
            pipeline.route(.delete, "/api/user/sessions/{session_id}", access.session, end),
        ]
    }

    /// GET /api/user/sessions
    private func list(
        _ request: APIRequest<AccountsAccess.SessionHolder>
    ) async throws(AccountsError) -> Response {
        let (user, current) = (request.principal.user, request.principal.session)
        let sessions = try await sessions.list(of: user, at: request.caller.now)
        return .json(.ok) { body in
            body.array("sessions") { list in
                for session in sessions {
                    list.element { member in
                        member.member("id", session.id.text)
                        member.member("created_at", session.created.rfc3339)
                        member.member("last_used_at", session.lastUsed.rfc3339)
                        member.member("expires_at", session.expiry.rfc3339)
                        member.member("method", session.method.text)
                        member.member("client", session.client)
                        member.member("agent", session.agent)
                        member.member("current", session.id == current.id)
                    }
                }
            }
        }
    }

    /// DELETE /api/user/sessions
    private func endOthers(
        _ request: APIRequest<AccountsAccess.SessionHolder>
    ) async throws(AccountsError) -> Response {
        try await sessions.endOthers(
            than: request.principal.session, of: request.principal.user, by: request.caller)
        return Response(status: .noContent)
    }

    /// DELETE /api/user/sessions/{session_id}
    private func end(
        _ request: APIRequest<AccountsAccess.SessionHolder>
    ) async throws(AccountsError) -> Response {
        let id = request.http.parameters["session_id"].flatMap(UserSessionID.init)
        try await sessions.end(id, of: request.principal.user, by: request.caller)
        let isCurrent = id == request.principal.session.id
        return Response(status: .noContent, headers: isCurrent ? access.cookie.cleared : [])
    }
}
