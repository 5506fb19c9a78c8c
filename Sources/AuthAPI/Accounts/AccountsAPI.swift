public import AuthCore
public import HTTPEngine
internal import StrictJSON

/// The accounts surface (contract section 2): `/api/…`.
public struct AccountsAPI: Sendable {
    let auth: AccountsAuth
    let errors = AccountsErrors()
    private let gate: Gate

    /// - Parameter limiter: the one that all surfaces share.
    public init(
        auth: AccountsAuth, limiter: RateLimiter, clock: @escaping @Sendable () -> Instant
    ) {
        self.auth = auth
        let errors = errors
        gate = Gate(limiter: limiter, clock: clock) { refusal, _ in errors.render(refusal) }
    }

    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/api"], errors: errors.renderer,
            routes: accountRoutes + userRoutes + userAccountRoutes + tokenRoutes + domainRoutes)
    }

    private var accountRoutes: [Route] {
        let account = "/api/accounts/{account_id}"
        return [
            Route(.get, "/api/challenge", handler: anonymous(issueChallenge)),
            Route(.get, "/api/domains", handler: anonymous(listSystemDomains)),
            Route(.post, "/api/accounts", handler: identified(createAccount)),
            Route(.post, "/api/token", handler: anonymous(login)),
            Route(.get, account, handler: identified(showAccount)),
            Route(.delete, account, handler: identified(deleteAccount)),
            Route(.put, account + "/reset-password", handler: identified(resetPassword)),
        ]
    }

    private var userRoutes: [Route] {
        [
            Route(.post, "/api/user/register", handler: anonymous(register)),
            Route(.post, "/api/user/login", handler: anonymous(loginUser)),
            Route(.post, "/api/user/logout", handler: asUser(logout)),
            Route(.put, "/api/user/password", handler: asUser(sendingJSON: true, changePassword)),
            Route(.get, "/api/user/me", handler: asUser(showUser)),
        ]
    }

    private var userAccountRoutes: [Route] {
        let account = "/api/user/accounts/{account_id}"
        return [
            Route(.get, "/api/user/accounts", handler: asUser(listAccounts)),
            Route(.delete, account, handler: asUser(deleteOwnedAccount)),
            Route(
                .put, account + "/reset-password",
                handler: asUser(sendingJSON: true, resetOwnedPassword)),
        ]
    }

    private var tokenRoutes: [Route] {
        [
            Route(.get, "/api/user/tokens", handler: asUser(listTokens)),
            Route(.post, "/api/user/tokens", handler: asUser(makeToken)),
            Route(.delete, "/api/user/tokens/{token_id}", handler: asUser(revokeToken)),
        ]
    }

    private var domainRoutes: [Route] {
        let domain = "/api/user/domains/{domain_id}"
        return [
            Route(.get, "/api/user/domains", handler: asUser(listDomains)),
            Route(.post, "/api/user/domains", handler: asUser(sendingJSON: true, addDomain)),
            Route(.post, domain + "/verify", handler: asUser(verifyDomain)),
            Route(.delete, domain, handler: asUser(removeDomain)),
        ]
    }

    /// An endpoint that ignores `Authorization`, for its rate class too: clients send their dead
    /// token when they log in again.
    private func anonymous(
        _ handler: @escaping @Sendable (Request, Caller) async throws -> Response
    ) -> Handler {
        { request in
            try await gate.admit(request, as: .general) { try await handler(request, $0) }
        }
    }

    /// An endpoint that wants to know whose token it is, and whose rate class that is.
    private func identified(
        _ handler: @escaping @Sendable (Request, Identity, Caller) async throws -> Response
    ) -> Handler {
        { request in
            try await gate.rendered(request) {
                let identity = try await auth.identify(
                    request.presentedToken, at: gate.caller(of: request).now)
                return try await gate.admit(request, as: identity.rateClass) { caller in
                    try await handler(request, identity, caller)
                }
            }
        }
    }

    /// An endpoint for Pro users, who may also come with their session cookie.
    /// - Parameter sendingJSON: whether it takes a body, whose type is looked at before the token.
    private func asUser(
        sendingJSON: Bool = false,
        _ handler: @escaping @Sendable (Request, User, Caller) async throws -> Response
    ) -> Handler {
        { request in
            try await gate.rendered(request) {
                let (token, isCookie) = request.userToken
                let identity = try await auth.identify(token, at: gate.caller(of: request).now)
                return try await gate.admit(request, as: identity.rateClass) { caller in
                    if sendingJSON { try request.requireJSON() }
                    if isCookie { try request.requireOwnOrigin() }
                    return try await handler(request, try identity.user(), caller)
                }
            }
        }
    }
}
