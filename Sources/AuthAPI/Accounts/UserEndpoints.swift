internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/user/register`, `login`, `logout`, `password` and `me`.
struct UserEndpoints: Sendable {
    let users: Users
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        [
            pipeline.route(.post, "/api/user/register", body: .json, .none(), register),
            pipeline.route(.post, "/api/user/login", body: .json, .none(), logIn),
            pipeline.route(.post, "/api/user/logout", access.user(.tokens), logOut),
            pipeline.route(
                .put, "/api/user/password", body: .json, access.tokenHolder, changePassword),
            pipeline.route(.get, "/api/user/me", access.user(), show),
        ]
    }

    /// POST /api/user/register
    private func register(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let opened = try await users.register(
            email: try body.requiredString("email"),
            password: try body.requiredPassword("password"), agent: request.http.userAgent,
            by: request.caller)
        return access.cookie.response(.created, opened, to: request.http)
    }

    /// POST /api/user/login
    private func logIn(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let opened = try await users.logIn(
            email: try body.requiredString("email"),
            password: try body.requiredPassword("password"), agent: request.http.userAgent,
            by: request.caller)
        return access.cookie.response(.ok, opened, to: request.http)
    }

    /// POST /api/user/logout
    private func logOut(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        try await users.logOut(request.principal, by: request.caller)
        return Response(status: .noContent, headers: access.cookie.cleared)
    }

    /// PUT /api/user/password
    ///
    /// `current_password` is not read for a user without a password.
    private func changePassword(
        _ request: APIRequest<AccountsAccess.TokenHolder>
    ) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let user = request.principal.user
        let proof: Users.PasswordProof =
            user.password == nil
            ? .session(request.principal.session)
            : .password(try body.requiredPassword("current_password"))
        try await users.changePassword(
            of: user, by: proof, to: try body.requiredPassword("password"),
            revokesAPITokens: try body.bool("revoke_api_tokens") ?? false, by: request.caller)
        return .json(.ok, headers: access.cookie.cleared) {
            $0.member("message", "password_reset")
        }
    }

    /// GET /api/user/me
    private func show(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let user = request.principal
        let holdings = try await users.holdings(of: user)
        return .json(.ok) { body in
            body.member("id", user.id.text)
            body.member("email", user.email.text)
            body.member("plan", "pro")
            body.member("role", "user")
            body.member("status", user.state.rawValue)
            body.member("max_accounts", holdings.maximumAccounts)
            body.member("max_domains", holdings.maximumDomains)
            body.member("account_count", holdings.accounts)
            body.member("domain_count", holdings.domains)
            body.member("ops_used", 0)
            body.member("ops_limit", 0)
            body.member("created_at", user.created.rfc3339)
            body.member("downgraded", false)
            body.member("has_password", user.password != nil)
            body.member("email_verified", user.emailVerified != nil)
        }
    }
}
