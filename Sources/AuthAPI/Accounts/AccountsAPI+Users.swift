internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

extension AccountsAPI {
    /// POST /api/user/register
    func register(_ request: Request, by caller: Caller) async throws -> Response {
        try request.requireJSON()
        let body = try JSONBody(request)
        let open = try await auth.register(
            email: try body.requiredString("email"),
            password: try body.requiredPassword("password"), by: caller)
        return opened(open, by: request, status: .created) { _ in }
    }

    /// POST /api/user/login
    func loginUser(_ request: Request, by caller: Caller) async throws -> Response {
        try request.requireJSON()
        let body = try JSONBody(request)
        let open = try await auth.loginUser(
            email: try body.requiredString("email"),
            password: try body.requiredPassword("password"), by: caller)
        return opened(open, by: request, status: .ok) { $0.member("downgraded", false) }
    }

    /// POST /api/user/logout
    func logout(_ request: Request, of user: User, by caller: Caller) async throws -> Response {
        try await auth.logout(user, by: caller)
        return Response(status: .noContent, headers: [("Set-Cookie", SessionCookie.cleared)])
    }

    /// PUT /api/user/password
    func changePassword(
        _ request: Request, of user: User, by caller: Caller
    ) async throws -> Response {
        let body = try JSONBody(request)
        try await auth.changePassword(
            of: user, from: try body.requiredPassword("current_password"),
            to: try body.requiredPassword("password"), by: caller)
        return .json(.ok, headers: [("Set-Cookie", SessionCookie.cleared)]) {
            $0.member("message", "password_reset")
        }
    }

    /// GET /api/user/me
    func showUser(_ request: Request, of user: User, by caller: Caller) async throws -> Response {
        let holdings = try await auth.holdings(of: user)
        return .json(.ok) { body in
            body.member("id", user.id.text)
            body.member("email", user.email.text)
            body.member("plan", "pro")
            body.member("role", "user")
            body.member("status", user.state.rawValue)
            body.member("max_accounts", auth.settings.maximumAccounts)
            body.member("max_domains", auth.settings.maximumDomains)
            body.member("account_count", holdings.accounts)
            body.member("domain_count", holdings.domains)
            body.member("ops_used", 0)
            body.member("ops_limit", 0)
            body.member("created_at", user.created.rfc3339)
            body.member("downgraded", false)
        }
    }

    /// A foreign page gets no cookie: it could log its visitor in as somebody else (login CSRF; a
    /// page of a sibling domain is same-site, so `SameSite` does not keep it out).
    private func opened(
        _ open: OpenUser, by request: Request, status: Status,
        _ more: (inout JSONWriter) -> Void
    ) -> Response {
        let cookie = [("Set-Cookie", SessionCookie.holding(open.token))]
        return .json(status, headers: request.isForeign ? [] : cookie) { body in
            body.member("user_id", open.user.id.text)
            body.member("email", open.user.email.text)
            body.member("plan", "pro")
            body.member("status", open.user.state.rawValue)
            more(&body)
            body.member("token", open.token)
        }
    }
}
