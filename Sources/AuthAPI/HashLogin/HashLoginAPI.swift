public import AuthCore
public import HTTPEngine
internal import StrictJSON

/// The hash-login API: people log in against an Argon2 hash that they host themselves, by form or
/// by JSON (docs/api.md, "Hash-login API").
public struct HashLoginAPI: Sendable {
    private let logins: HashLogins
    private let errors: HashLoginErrors
    private let pages: HashLoginPages
    private let host: PublicHost
    private let pipeline: Pipeline<HashLoginError>

    /// - Parameters:
    ///   - hasMailPage: whether there is a ``CapturedMailAPI``.
    ///   - limiter: shared by all APIs, as `events`.
    public init(
        logins: HashLogins, publicURL: String, hasMailPage: Bool = false, limiter: RateLimiter,
        events: SecurityEvents, clock: ServerClock
    ) {
        self.logins = logins
        let pages = HashLoginPages(
            publicURL: publicURL, tokenLifetime: logins.settings.tokenLifetime,
            hasMailPage: hasMailPage)
        self.pages = pages
        host = PublicHost(publicURL: publicURL)
        let errors = HashLoginErrors(pages: pages)
        self.errors = errors
        pipeline = Pipeline(limiter: limiter, clock: clock, events: events) { error, request in
            errors.response(error, to: request)
        }
    }

    public var routes: RouteGroup {
        let required = BodyType.formOrJSON(isOptional: false)
        let optional = BodyType.formOrJSON(isOptional: true)
        return RouteGroup(
            prefixes: [
                "/register", "/login", "/validate", "/logout", "/example.txt", "/style.css",
            ],
            errors: errors.renderer,
            routes: [
                pipeline.route(.get, "/", .none(), showHome),
                pipeline.route(.get, "/style.css", .none()) { _ throws(HashLoginError) in
                    HashLoginPages.stylesheet
                },
                pipeline.route(.get, "/example.txt", .none()) { _ throws(HashLoginError) in
                    .text(Self.exampleHash + "\n")
                },
                pipeline.route(
                    .post, "/register", body: required, .none(limit: .hashLogin), register),
                pipeline.route(.post, "/login", body: required, .none(limit: .hashLogin), logIn),
                pipeline.route(.post, "/validate", body: optional, .none(), validate),
                pipeline.route(.post, "/logout", body: optional, .none(limit: .hashLogin), logOut),
                pipeline.route(
                    .delete, "/logout", body: optional, .none(limit: .hashLogin), logOut),
            ])
    }

    /// An Argon2id hash of `test123`, to try the registration with.
    static let exampleHash =
        "$argon2id$v=19$m=19456,t=2,p=1$cG9zdGVybi1leGFtcGxlIQ$"
        + "wqtLNz3vyNNqZLPnNBLVOCiUCbPP0NKqdmv5DXQJT6M"

    /// GET /
    private func showHome(_ request: APIRequest<Void>) async throws(HashLoginError) -> Response {
        guard host.isNamed(by: request.http) else { throw .foreignHost }
        return pages.home(publicKey: try await logins.publicKey(at: request.caller.now) ?? "")
    }

    /// POST /register
    private func register(_ request: APIRequest<Void>) async throws(HashLoginError) -> Response {
        let fields = try fields(of: request.http)
        let login = try await naming(request.caller) { () async throws(HashLoginError) in
            try await logins.register(
                email: fields["email"], url: fields["password_hash_url"],
                password: fields.password, by: request.caller)
        }
        guard fields.responseFormat == .json else { return pages.registered(login) }
        return .json(.created) { body in
            body.member("email", login.email.text)
            body.member("password_hash_url", login.url.text)
        }
    }

    /// POST /login
    private func logIn(_ request: APIRequest<Void>) async throws(HashLoginError) -> Response {
        let fields = try fields(of: request.http)
        let opened = try await naming(request.caller) { () async throws(HashLoginError) in
            try await logins.logIn(
                email: fields["email"], password: fields.password, by: request.caller)
        }
        guard fields.responseFormat == .json else { return pages.loggedIn(opened) }
        return .json(.ok) { body in
            body.member("token", opened.token)
            body.member("token_type", "Bearer")
            body.member("email", opened.email.text)
        }
    }

    /// POST /validate
    private func validate(_ request: APIRequest<Void>) async throws(HashLoginError) -> Response {
        let fields = try fields(of: request.http, isOptional: true)
        let valid = try await logins.validate(
            fields["token"] ?? request.http.bearerToken, at: request.caller.now)
        guard fields.responseFormat == .json else { return pages.valid(valid) }
        return .json(.ok) { body in
            body.member("valid", true)
            body.member("payload") { payload in
                payload.member("sub", valid.email.text)
                payload.member("email", valid.email.text)
                payload.member("email_verified", false)
                payload.member("iss", valid.issuer)
                payload.member("iat", valid.issued.seconds)
                payload.member("exp", valid.expiry.seconds)
                payload.member("ver", valid.credentialVersion)
            }
        }
    }

    /// DELETE /logout, POST /logout
    private func logOut(_ request: APIRequest<Void>) async throws(HashLoginError) -> Response {
        let fields = try fields(of: request.http, isOptional: true)
        let email = try await naming(request.caller) { () async throws(HashLoginError) in
            try await logins.logOut(
                token: fields["token"] ?? request.http.bearerToken, email: fields["email"],
                password: fields.password, by: request.caller)
        }
        guard fields.responseFormat == .json else { return pages.loggedOut(email) }
        return .json(.ok) { body in
            body.member("success", true)
            body.member("email", email.text)
        }
    }

    /// Runs `body` with the caller as ``AuthCore/Caller/current``, so that a report about a hash
    /// URL can name the request.
    private func naming<T: Sendable>(
        _ caller: Caller, _ body: () async throws(HashLoginError) -> T
    ) async throws(HashLoginError) -> T {
        let result = await Caller.$current.withValue(caller) {
            () async -> Result<T, HashLoginError> in
            do throws(HashLoginError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// - Throws: as ``HashLoginFields``; ``HashLoginError/foreignHost`` for a page under another
    ///   host name than the server's.
    private func fields(
        of request: Request, isOptional: Bool = false
    ) throws(HashLoginError) -> HashLoginFields {
        let fields = try HashLoginFields(request, isOptional: isOptional)
        guard fields.responseFormat == .json || host.isNamed(by: request) else {
            throw .foreignHost
        }
        return fields
    }
}
