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
    private let resetPassword: Response
    private let verifyEmail: Response

    /// - Parameters:
    ///   - settings: what the pages say of this server.
    ///   - sendsMail: whether users get links by mail.
    ///   - providers: where users can log in instead of here.
    ///   - hasMailPage: whether there is a ``CapturedMailAPI``.
    public init(
        agent: AgentAPI, settings: AccountsSettings, sendsMail: Bool,
        providers: [LoginProvider] = [], hasMailPage: Bool = false
    ) {
        errors = agent.errors
        let publicURL = agent.errors.publicURL
        host = PublicHost(publicURL: publicURL)
        let layout = PageLayout(publicURL: publicURL, hasMailPage: hasMailPage)
        let escapedURL: HTMLText = "\(publicURL)"
        let values = [
            "public_url": escapedURL.text,
            "registration": settings.registrationIsOpen ? "open" : "closed",
            "mailer": sendsMail ? "on" : "off",
            "token_lifetime": settings.tokenLifetime.inWords,
            "login_providers": ProviderMarkup.links(providers).text,
            "link_providers": ProviderMarkup.linkButtons(providers).text,
        ].merging(MailMarkup.values) { value, _ in value }
        func main(_ file: EmbeddedFile) -> HTMLText {
            HTMLText(markup: Template.fill(file.bytes, values))
        }
        signup = layout.page(
            title: "Create a mailbox", at: (.signup, .page), script: "/web/signup.js",
            main: main(.signup_html))
        dashboard = layout.page(
            title: "Dashboard", at: (.dashboard, .page), script: "/web/dashboard.js",
            showsMail: true, main: main(.dashboard_html))
        // Their URLs have the tokens of links.
        resetPassword = layout.page(
            title: "Set a new password", at: (.dashboard, .section),
            script: "/web/reset-password.js", referrer: .none, main: main(.reset_password_html))
        verifyEmail = layout.page(
            title: "Verify your email", at: (.dashboard, .section),
            script: "/web/verify-email.js", referrer: .none, main: main(.verify_email_html))
    }

    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/signup", "/dashboard", "/reset-password", "/verify-email", "/web"],
            errors: errors.renderer,
            routes: [
                host.route("/signup", signup),
                host.route("/dashboard", dashboard),
                host.route("/reset-password", resetPassword),
                host.route("/verify-email", verifyEmail),
                Self.script("/web/accounts.js", .accounts_js),
                Self.script("/web/api.js", .api_js),
                Self.script("/web/captured.js", .captured_js),
                Self.script("/web/dashboard.js", .dashboard_js),
                Self.script("/web/domains.js", .domains_js),
                Self.script("/web/list.js", .list_js),
                Self.script("/web/login.js", .login_js),
                Self.script("/web/mail.js", .mail_js),
                Self.script("/web/message-frame.js", .message_frame_js),
                Self.script("/web/passkeys.js", .passkeys_js),
                Self.script("/web/providers.js", .providers_js),
                Self.script("/web/proof-worker.js", .proof_worker_js),
                Self.script("/web/proof.js", .proof_js),
                Self.script("/web/reset-password.js", .reset_password_js),
                Self.script("/web/security.js", .security_js),
                Self.script("/web/signup.js", .signup_js),
                Self.script("/web/tokens.js", .tokens_js),
                Self.script("/web/totp.js", .totp_js),
                Self.script("/web/user.js", .user_js),
                Self.script("/web/verify-email.js", .verify_email_js),
                Self.script("/web/view.js", .view_js),
                Self.script("/web/webauthn.js", .webauthn_js),
                Self.script("/web/webhooks.js", .webhooks_js),
            ])
    }

    /// Scripts are cached for as long as documents: those of one page must be of one version.
    private static func script(_ path: String, _ file: EmbeddedFile) -> Route {
        let response = Response(
            status: .ok,
            headers: [
                ("Content-Type", "text/javascript; charset=utf-8"),
                ("Cache-Control", "public, max-age=300"),
            ],
            body: file.bytes)
        return Route(.get, path) { _ in response }
    }
}
