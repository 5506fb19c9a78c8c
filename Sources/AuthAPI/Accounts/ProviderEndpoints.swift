internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/user/oauth/…` and `/api/user/identities/…`.
struct ProviderEndpoints: Sendable {
    private static let one = "/api/user/oauth/{provider}"
    private static let identities = "/api/user/identities"

    let logins: ProviderLogins
    let pipeline: Pipeline<AccountsError>
    /// For the paths that browsers are sent to, whose errors people read.
    let pages: Pipeline<AccountsError>
    let access: AccountsAccess
    let signInCookie: SignInCookie

    var routes: [Route] {
        [
            pipeline.route(.get, "/api/user/oauth", .none(), list),
            pages.route(.get, Self.one, .none(), begin),
            pages.route(.get, Self.one + "/callback", .none(), finish),
            pipeline.route(.post, Self.one + "/link", access.recentLogin, beginLink),
            pipeline.route(.get, Self.identities, access.session, listIdentities),
            pipeline.route(
                .delete, Self.identities + "/{identity_id}", access.recentLogin, unlink),
        ]
    }

    private typealias UserRequest = APIRequest<AccountsAccess.SessionHolder>

    /// GET /api/user/oauth
    private func list(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        .json(.ok) { body in
            body.array("providers") { list in
                for provider in logins.providers {
                    list.element { member in
                        member.member("name", provider.name)
                        member.member("label", provider.label)
                    }
                }
            }
        }
    }

    /// GET /api/user/oauth/{provider}
    ///
    /// A page of another site must not log its visitors in, nor replace a sign-in that they have
    /// begun. Its links lead to the page with the provider's button instead.
    private func begin(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        guard !request.http.isCrossOrigin else { return .redirect(to: "/dashboard", []) }
        let begun = try await logins.begin(at: request.http.provider, by: request.caller)
        return .redirect(to: begun.url, signInCookie.storing(begun, for: request.http))
    }

    /// GET /api/user/oauth/{provider}/callback
    private func finish(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let fields = QueryFields<AccountsError>(request.http)
        let callback = ProviderLogins.Callback(
            token: signInCookie.token(of: request.http), state: try fields.field("state"),
            code: try fields.field("code"), error: try fields.field("error"),
            issuer: try fields.field("iss"))
        do throws(AccountsError) {
            switch try await logins.finish(
                callback, at: request.http.provider, agent: request.http.userAgent,
                by: request.caller)
            {
            case .loggedIn(let opened):
                return .redirect(
                    to: "/dashboard",
                    access.cookie.storing(opened.token, afterSignIn: request.http)
                        + signInCookie.cleared)
            case .linked(let identity):
                return .redirect(
                    to: "/dashboard#linked=\(identity.provider)", signInCookie.cleared)
            }
        } catch {
            guard case .secondFactorRequired(let challenge) = error else { throw error }
            // What follows `#` stays in the browser.
            return .redirect(
                to: "/dashboard#second_factor=\(challenge.token)&factors="
                    + challenge.names.joined(separator: ","),
                signInCookie.cleared)
        }
    }

    /// POST /api/user/oauth/{provider}/link
    private func beginLink(_ request: UserRequest) async throws(AccountsError) -> Response {
        let begun = try await logins.beginLink(
            at: request.http.provider, to: request.principal.user, in: request.principal.session,
            by: request.caller)
        return .json(.ok, headers: signInCookie.storing(begun, for: request.http)) { body in
            body.member("url", begun.url)
            body.member("expires_in", begun.lifetime.components.seconds)
        }
    }

    /// GET /api/user/identities
    private func listIdentities(_ request: UserRequest) async throws(AccountsError) -> Response {
        let identities = try await logins.identities(of: request.principal.user)
        return .json(.ok) { body in
            body.array("identities") { list in
                for identity in identities {
                    list.element { member in
                        member.member("id", identity.id.text)
                        member.member("provider", identity.provider)
                        member.member("email", identity.email)
                        member.member("created_at", identity.created.rfc3339)
                        member.member("last_used_at", identity.lastUsed?.rfc3339)
                    }
                }
            }
        }
    }

    /// DELETE /api/user/identities/{identity_id}
    private func unlink(_ request: UserRequest) async throws(AccountsError) -> Response {
        try await logins.unlink(
            request.http.parameters["identity_id"].flatMap(IdentityID.init),
            of: request.principal.user, in: request.principal.session, by: request.caller)
        return Response(status: .noContent)
    }
}

extension Request {
    fileprivate var provider: String { parameters["provider"] ?? "" }
}

extension QueryFields where Failure == AccountsError {
    /// The longest field of a callback in bytes.
    private static var limit: Int { 4096 }

    fileprivate func field(_ name: String) throws(AccountsError) -> String? {
        guard let text = try text(name) else { return nil }
        guard text.utf8.count <= Self.limit else { throw .malformed("`\(name)` is too long.") }
        return text
    }
}

extension Response {
    /// See Other (RFC 9110 §15.4.4): the browser goes on with GET. What it was sent with may be in
    /// the URL of this request and is not passed on.
    fileprivate static func redirect(
        to url: String, _ headers: [(String, String)]
    ) -> Response {
        Response(
            status: Status(code: 303),
            headers: [
                ("Location", url), ("Cache-Control", "no-store"),
                ("Referrer-Policy", "no-referrer"),
            ] + headers)
    }
}
