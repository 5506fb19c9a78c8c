public import AuthCore
internal import CEmbeddedFiles
public import HTTPEngine

/// The web pages, and the scripts that they load (docs/api.md, "Web pages").
///
/// They are constants: the scripts call the accounts API as any other client does. Not rate
/// limited, because an answer costs no more than a 429, and a page is several requests.
public struct WebAPI: Sendable {
    private let errors: AgentErrors
    private let host: PublicHost
    private let signup: Response
    private let dashboard: Response

    /// - Parameter settings: what the pages say of this server.
    public init(agent: AgentAPI, settings: AccountsSettings) {
        errors = agent.errors
        let publicURL = agent.errors.publicURL
        host = PublicHost(publicURL: publicURL)
        let escapedURL: HTMLText = "\(publicURL)"
        let values = [
            "public_url": escapedURL.text,
            "registration": settings.registrationIsOpen ? "open" : "closed",
            "token_lifetime": settings.tokenLifetime.inWords,
        ]
        signup = Self.page(EmbeddedFile.signup_html.bytes, values)
        dashboard = Self.page(EmbeddedFile.dashboard_html.bytes, values)
    }

    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/signup", "/dashboard", "/web"], errors: errors.renderer,
            routes: [
                route("/signup", signup),
                route("/dashboard", dashboard),
                Self.script("/web/accounts.js", EmbeddedFile.accounts_js.bytes),
                Self.script("/web/api.js", EmbeddedFile.api_js.bytes),
                Self.script("/web/dashboard.js", EmbeddedFile.dashboard_js.bytes),
                Self.script("/web/domains.js", EmbeddedFile.domains_js.bytes),
                Self.script("/web/list.js", EmbeddedFile.list_js.bytes),
                Self.script("/web/proof-worker.js", EmbeddedFile.proof_worker_js.bytes),
                Self.script("/web/proof.js", EmbeddedFile.proof_js.bytes),
                Self.script("/web/signup.js", EmbeddedFile.signup_js.bytes),
                Self.script("/web/tokens.js", EmbeddedFile.tokens_js.bytes),
                Self.script("/web/user.js", EmbeddedFile.user_js.bytes),
                Self.script("/web/view.js", EmbeddedFile.view_js.bytes),
            ])
    }

    private func route(_ path: String, _ page: Response) -> Route {
        Route(.get, path) { [host] request in
            host.isNamed(by: request)
                ? page
                : .text(
                    "The pages of this server have another host name.\n",
                    status: .misdirectedRequest)
        }
    }

    private static func page(_ template: [UInt8], _ values: [String: String]) -> Response {
        Response(
            status: .ok,
            headers: SecurityFields.page(
                allowing: "script-src 'self'; style-src 'self'; connect-src 'self'; "
                    + "worker-src 'self'"),
            body: Array(Template.fill(template, values).utf8))
    }

    /// Scripts are cached for as long as documents: those of one page must be of one version.
    private static func script(_ path: String, _ source: [UInt8]) -> Route {
        let response = Response(
            status: .ok,
            headers: [
                ("Content-Type", "text/javascript; charset=utf-8"),
                ("Cache-Control", "public, max-age=300"),
            ],
            body: source)
        return Route(.get, path) { _ in response }
    }
}
