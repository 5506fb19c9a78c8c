internal import AuthCore
internal import HTTPEngine

/// The pages of the hash-login surface: usable without JavaScript, by keyboard and on a phone.
///
/// Everything that came from outside goes through ``HTMLText``'s escaping; nothing is loaded from
/// anywhere else, and no other site may frame a page or send its forms.
struct HashLoginPages: Sendable {
    enum Form { case registration, login }

    let publicURL: String

    /// What every page says to the browser. Pages may hold tokens, so none is kept.
    private static let headers = [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Cache-Control", "no-store"),
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
                + "frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        // With `no-referrer` browsers send our own forms with `Origin: null` (Fetch, "append a
        // request Origin header"), which reads like another site's.
        ("Referrer-Policy", "same-origin"),
    ]

    var stylesheet: Response {
        Response(
            status: .ok,
            headers: [
                ("Content-Type", "text/css; charset=utf-8"),
                ("Cache-Control", "public, max-age=3600"), ("X-Content-Type-Options", "nosniff"),
            ],
            body: PackageResources.style_css)
    }

    func home(publicKey: String) -> Response {
        page(
            .ok, "Hash login",
            """
            <p class="lead">Register an email address with a URL that serves an Argon2 hash of your
            password. Every login is checked against what the URL serves at that moment; the hash
            and the password are never kept here.</p>
            <div class="forms">
            \(form(.registration))
            \(form(.login))
            </div>
            \(HashLoginReference(publicURL: publicURL, publicKey: publicKey).markup)
            """)
    }

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

    func loggedIn(_ open: OpenLogin) -> Response {
        page(
            .ok, "Logged in",
            """
            <p role="status" class="done">\(open.email.text) is logged in for an hour.</p>
            <p><label for="token">Token</label>
            <textarea id="token" readonly rows="6">\(open.token)</textarea></p>
            <form class="bare" method="post" action="/logout">
            <input type="hidden" name="token" value="\(open.token)">
            <button type="submit">Log out everywhere</button>
            </form>
            \(Self.wayHome)
            """)
    }

    func loggedOut(_ email: Email) -> Response {
        page(
            .ok, "Logged out",
            """
            <p role="status" class="done">Every earlier token of \(email.text) is dead.</p>
            \(Self.wayHome)
            """)
    }

    func valid(_ login: ValidLogin) -> Response {
        page(
            .ok, "Valid token",
            """
            <p role="status" class="done">The token of \(login.email.text) is good until
            \(login.expiry.rfc3339).</p>
            \(Self.wayHome)
            """)
    }

    func failure(_ error: HashLoginError) -> Response {
        page(
            error.status, "Not done",
            """
            <p role="alert" class="failed">\(error.sentence)</p>
            \(Self.wayHome)
            """)
    }

    /// The form again, with what was typed (never the password) and, at its field, what is wrong.
    func retry(_ form: Form, _ fields: HashLoginFields, _ error: HashLoginError) -> Response {
        page(
            error.status, form == .registration ? "Register" : "Log in",
            """
            \(self.form(form, fields, error))
            \(Self.wayHome)
            """)
    }

    private static let wayHome: HTMLText = "<p><a href=\"/\">Back to the start</a></p>"

    private func page(_ status: Status, _ title: String, _ main: HTMLText) -> Response {
        let document: HTMLText = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · Postern</title>
            <link rel="stylesheet" href="/style.css">
            </head>
            <body>
            <main>
            <h1>\(title)</h1>
            \(main)
            </main>
            </body>
            </html>

            """
        return Response(
            status: status, headers: Self.headers, body: Array(document.text.utf8))
    }
}
