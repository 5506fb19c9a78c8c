public import AuthCore
public import HTTPEngine

/// The hash-login surface (contract section 3): people log in against an Argon2 hash that they
/// host themselves, by form or by JSON.
public struct HashLoginAPI: Sendable {
    let auth: HashLoginAuth
    let errors: HashLoginErrors
    let pages: HashLoginPages
    let keys: KeyRing
    private let gate: Gate

    /// - Parameters:
    ///   - keys: the home page shows the public key of login tokens.
    ///   - limiter: the one that all surfaces share.
    public init(
        auth: HashLoginAuth, keys: KeyRing, publicURL: String, limiter: RateLimiter,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.auth = auth
        self.keys = keys
        let pages = HashLoginPages(publicURL: publicURL)
        self.pages = pages
        let errors = HashLoginErrors(pages: pages)
        self.errors = errors
        gate = Gate(limiter: limiter, clock: clock) { refusal, request in
            errors.render(refusal, as: request.answerForm)
        }
    }

    public var routes: RouteGroup {
        RouteGroup(
            prefixes: [
                "/register", "/login", "/validate", "/logout", "/example.txt", "/style.css",
            ],
            errors: errors.renderer,
            routes: [
                Route(.get, "/", handler: counted(.general, home)),
                Route(.get, "/style.css", handler: counted(.general, stylesheet)),
                Route(.get, "/example.txt", handler: counted(.general, example)),
                Route(.post, "/register", handler: counted(.hashLogin, register)),
                Route(.post, "/login", handler: counted(.hashLogin, login)),
                Route(.post, "/validate", handler: counted(.general, validate)),
                Route(.post, "/logout", handler: counted(.hashLogin, logout)),
                Route(.delete, "/logout", handler: counted(.hashLogin, logout)),
            ])
    }

    private func counted(
        _ limit: RateLimiter.Class,
        _ handler: @escaping @Sendable (Request, Caller) async throws -> Response
    ) -> Handler {
        { request in
            try await gate.admit(request, as: limit) { try await handler(request, $0) }
        }
    }
}
