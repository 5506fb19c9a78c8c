internal import AuthCore
internal import CEmbeddedFiles
internal import HTTPEngine

/// The pages of the hash-login API: usable without JavaScript, by keyboard and on a phone.
///
/// ``HTMLText`` escapes every text that came from outside. The pages load nothing from other sites,
/// and no other site may frame them or send their forms.
struct HashLoginPages: Sendable {
    enum Form {
        case registration, login

        /// - Returns: `nil` for a path that no form is sent to.
        init?(path: String) {
            switch path {
            case "/register": self = .registration
            case "/login": self = .login
            default: return nil
            }
        }
    }

    private let publicURL: String
    private let tokenLifetime: Duration
    private let layout: PageLayout

    init(publicURL: String, tokenLifetime: Duration, hasMailPage: Bool = false) {
        self.publicURL = publicURL
        self.tokenLifetime = tokenLifetime
        layout = PageLayout(publicURL: publicURL, hasMailPage: hasMailPage)
    }

    static let stylesheet = Response(
        status: .ok,
        headers: [
            ("Content-Type", "text/css; charset=utf-8"),
            ("Cache-Control", "public, max-age=3600"),
        ],
        body: EmbeddedFile.style_css.bytes)

    func home(publicKey: String) -> Response {
        layout.page(
            title: "Hash login", at: (.hashLogin, .page),
            main: """
                \(Self.introduction)
                <h1>Hash login</h1>
                <p class="lead">Register an email address with a URL that serves an Argon2 hash of
                your password. Every login is checked against what the URL serves at that moment;
                the hash and the password are never stored here.</p>
                <div class="forms">
                \(form(.registration))
                \(form(.login))
                </div>
                \(HashLoginReference(
                    publicURL: publicURL, publicKey: publicKey, tokenLifetime: tokenLifetime
                ).markup)
                """)
    }

    /// What this server is, for those who know its name only.
    private static let introduction: HTMLText = """
        <p class="introduction">This server creates mailboxes for people and for programs, and
        issues the tokens that open them. For a mailbox, go to
        <a href="/signup">Create a mailbox</a>; for several of them or a domain of your own, to the
        <a href="/dashboard">Dashboard</a>; to log in with a password hash that you host yourself,
        stay here; a program begins at <a href="/llms.txt">/llms.txt</a>.</p>
        """

    func registered(_ login: HashLogin) -> Response {
        page(
            .created, "Registered",
            """
            <p role="status" class="done">\(login.email.text) is registered with
            <code>\(login.url.text)</code>.</p>
            \(form(.login))
            \(Self.wayHome)
            """)
    }

    func loggedIn(_ opened: HashLogins.Opened) -> Response {
        page(
            .ok, "Logged in",
            """
            <p role="status" class="done">\(opened.email.text)
            is logged in for \(opened.lifetime.inWords).</p>
            <p><label for="token">Token</label>
            <textarea id="token" readonly rows="6">\(opened.token)</textarea></p>
            <form class="bare" method="post" action="/logout">
            <input type="hidden" name="token" value="\(opened.token)">
            <button type="submit">Log out everywhere</button>
            </form>
            \(Self.wayHome)
            """)
    }

    func loggedOut(_ email: Email) -> Response {
        page(
            .ok, "Logged out",
            """
            <p role="status" class="done">Every earlier token of \(email.text) is now invalid.</p>
            \(Self.wayHome)
            """)
    }

    func valid(_ login: HashLogins.ValidToken) -> Response {
        page(
            .ok, "Valid token",
            """
            <p role="status" class="done">The token of \(login.email.text) is valid until
            \(login.expiry.rfc3339).</p>
            \(Self.wayHome)
            """)
    }

    func failure(_ error: HashLoginErrorText) -> Response {
        page(
            error.status, "Not done",
            """
            <p role="alert" class="failed">\(error.sentence)</p>
            \(Self.wayHome)
            """)
    }

    /// The form again, with what was typed (never the password) and the error at its field.
    func retry(_ form: Form, _ fields: HashLoginFields, _ error: HashLoginErrorText) -> Response {
        page(
            error.status, form == .registration ? "Register" : "Log in",
            """
            \(self.form(form, fields, error))
            \(Self.wayHome)
            """)
    }

    private static let wayHome: HTMLText = "<p><a href=\"/\">Back to the start</a></p>"

    /// A page that answers a form of the home page.
    private func page(_ status: Status, _ title: String, _ main: HTMLText) -> Response {
        layout.page(
            status, title: title, at: (.hashLogin, .section),
            main: """
                <h1>\(title)</h1>
                \(main)
                """)
    }
}
