public import AuthCore
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
        signup = Self.page(PackageResources.signup_html, values)
        dashboard = Self.page(PackageResources.dashboard_html, values)
    }

    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/signup", "/dashboard", "/web"], errors: errors.renderer,
            routes: [
                route("/signup", signup),
                route("/dashboard", dashboard),
                Self.script("/web/accounts.js", PackageResources.accounts_js),
                Self.script("/web/api.js", PackageResources.api_js),
                Self.script("/web/dashboard.js", PackageResources.dashboard_js),
                Self.script("/web/domains.js", PackageResources.domains_js),
                Self.script("/web/list.js", PackageResources.list_js),
                Self.script("/web/proof-worker.js", PackageResources.proof_worker_js),
                Self.script("/web/proof.js", PackageResources.proof_js),
                Self.script("/web/signup.js", PackageResources.signup_js),
                Self.script("/web/tokens.js", PackageResources.tokens_js),
                Self.script("/web/user.js", PackageResources.user_js),
                Self.script("/web/view.js", PackageResources.view_js),
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
