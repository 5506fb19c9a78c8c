import Cryptography
import HTTPEngine
import TestSupport
import Testing

@testable import AuthAPI
@testable import AuthCore

/// The pages of the hash-login API: their format, their safety and their texts.
struct HashLoginPagesTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test(
        arguments: [
            (nil, ResponseFormat.html), ("*/*", .html), ("application/json", .json),
            ("text/html,application/xhtml+xml,*/*;q=0.8", .html),
            ("application/json, text/plain, */*", .json), ("text/html, application/json", .html),
            ("text/html;q=0.5, application/json;q=0.9", .json),
            ("application/json;q=0, text/html", .html), ("application/*, text/html;q=0.9", .json),
            ("application/json;q=0", .html), ("application/json;q=0, */*;q=0", .html),
            ("application/json;q=banana, text/html;q=0.1", .html), (",,;;/", .html),
            ("text/html\u{600},application/json", .json),
            ("text/html\u{37e}x,application/json;Q=0.5", .json),
            ("text/html;q=0.5\u{600}, application/json;q=0.4", .json),
        ] as [(String?, ResponseFormat)])
    func theFormatIsTheOneThatAcceptPrefers(accept: String?, format: ResponseFormat) {
        let request = Request(
            method: .get, target: "/", headers: accept.map { [("Accept", $0)] } ?? [])
        #expect(request.responseFormat == format)
    }

    @Test func aBodyWithoutMediaTypeThatBeginsLikeJSONIsJSON() async throws {
        for (body, error) in [
            (#" {"email":"a","password":"b"}"#, "Invalid email or password."),
            ("\n{", "The request body could not be read."),
        ] {
            let response = await untyped("/login", body)
            #expect(response.header("Content-Type") == "application/json")
            #expect(try response.json.text("error") == error)
        }
        let form = await untyped("/login", "email=a&password=b")
        #expect(form.header("Content-Type") == "text/html; charset=utf-8")
    }

    /// A page can send text without a media type to any origin, without a preflight request.
    @Test(arguments: ["email=a&password=b", #"{"email":"a","password":"b"}"#])
    func aBodyWithoutMediaTypeFromAnotherOriginIsForbidden(body: String) async {
        let response = await untyped("/login", body, headers: [("Origin", "https://evil.test")])
        #expect(response.status == .forbidden)
    }

    @Test func aRateLimitIsReportedInTheFormatOfTheClient() async throws {
        let api = try APIWorld(AgentWorld(limits: true))
        for accept in ["text/html", "application/json"] {
            var response = await post("/logout", "token=x", headers: [("Accept", accept)], to: api)
            for _ in 0..<8 where response.status != .tooManyRequests {
                response = await post("/logout", "token=x", headers: [("Accept", accept)], to: api)
            }
            #expect(response.status == .tooManyRequests)
            #expect(response.header("Retry-After") == "1")
            #expect(response.header("RateLimit-Remaining") == "0")
            let type = try #require(response.header("Content-Type"))
            #expect(type.hasPrefix(accept))
        }
    }

    /// Five at once and one a second where a request costs a fetch or a hash; otherwise as
    /// elsewhere.
    @Test(arguments: [
        ("/register", 5), ("/login", 5), ("/logout", 5), ("/validate", 8), ("/", 8),
    ])
    func requestsThatCostAFetchAreLimitedMoreStrictly(path: String, burst: Int) async throws {
        let api = try APIWorld(AgentWorld(limits: true))
        let json = path == "/" ? nil : #"{"token":"x","email":"@"}"#
        let method: HTTPEngine.Method = path == "/" ? .get : .post
        for left in (0..<burst).reversed() {
            // A login that fails moves the clock to its floor; a body that cannot be read does not.
            let response = await api.call(method, path, json: path == "/login" ? "{" : json)
            #expect(response.header("RateLimit-Limit") == String(burst))
            #expect(response.header("RateLimit-Remaining") == String(left))
        }
        #expect(await api.call(method, path, json: json).status == .tooManyRequests)
        api.world.clock.advance(by: .seconds(1))
        let later = await api.call(method, path, json: json)
        #expect(later.header("RateLimit-Remaining") == String(burst == 8 ? 7 : 0))
    }

    @Test func aFailedFormIsShownAgainWithItsError() async throws {
        let response = await post("/login", "email=nobody%40example.com&password=x")
        #expect(response.status == .unprocessableContent)
        #expect(response.header("Content-Type") == "text/html; charset=utf-8")
        let page = text(response)
        #expect(page.contains("Invalid email or password."))
        // The fields have what was typed, except the password; the error refers to its field.
        #expect(page.contains("value=\"nobody@example.com\""))
        #expect(page.contains("aria-describedby=\"login-password-error\""))
        #expect(page.contains("id=\"login-password-error\" class=\"error\" role=\"alert\""))
        // The error appears once, at its field; the page has the heading of the form.
        #expect(page.ranges(of: "Invalid email or password.").count == 1)
        #expect(page.ranges(of: "<h2>").isEmpty)
    }

    @Test func aFormMayAskForJSON() async throws {
        let response = await post(
            "/login", "email=a&password=b", headers: [("Accept", "application/json")])
        #expect(response.header("Content-Type") == "application/json")
        #expect(try response.json.text("error") == "Invalid email or password.")
    }

    /// Also errors of the engine, before any handler runs.
    @Test(
        arguments: [
            (.get, "/login", 405), (.get, "/login/nothing", 404), (.get, "/login/%00", 400),
            (.post, "/login", 413),
        ] as [(HTTPEngine.Method, String, Int)])
    func errorsOfTheEngineHaveTheFormatOfTheClient(
        method: HTTPEngine.Method, target: String, status: Int
    ) async throws {
        let body = [UInt8](repeating: 0x20, count: status == 413 ? 70_000 : 0)
        func ask(_ accept: String) async -> Response {
            await api.router.respond(
                to: Request(
                    method: method, target: target, headers: [("Accept", accept)], body: body))
        }
        let page = await ask("text/html")
        #expect(page.status.code == status)
        #expect(page.header("Content-Type") == "text/html; charset=utf-8")
        #expect(page.header("Content-Security-Policy") != nil)
        let json = await ask("application/json")
        #expect(json.status.code == status)
        #expect(try json.json.names == ["error"])
    }

    @Test func textsOfTheClientAreEscaped() async throws {
        let markup = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E%27%26"
        let response = await post("/register", "email=\(markup)&password_hash_url=\(markup)")
        let page = text(response)
        #expect(!page.contains("<script"))
        #expect(page.contains("&quot;&gt;&lt;script&gt;"))
        #expect(page.contains("&#39;&amp;"))
    }

    @Test func thePasswordIsNeverShownAgain() async throws {
        let response = await post("/login", "email=a%40b.test&password=very-secret-1")
        #expect(!text(response).contains("very-secret-1"))
    }

    @Test func everyPageHasItsSecurityFields() async throws {
        for response in [
            await api.call(.get, "/"), await post("/login", "email=a&password=b"),
            await post("/validate", "token=x"), await post("/register", ""),
        ] {
            let policy = try #require(response.header("Content-Security-Policy"))
            for rule in [
                "default-src 'none'", "style-src 'self'", "form-action 'self'", "base-uri 'none'",
                "frame-ancestors 'none'",
            ] {
                #expect(policy.contains(rule))
            }
            #expect(response.header("Referrer-Policy") == "same-origin")
            #expect(response.header("Cache-Control") == "no-store")
            #expect(!text(response).contains("<script"))
            #expect(!text(response).contains("style=\""))
        }
    }

    @Test func everyFieldHasItsLabel() async throws {
        let page = text(await api.call(.get, "/"))
        for name in [
            "register-email", "register-password_hash_url", "register-password", "login-email",
            "login-password",
        ] {
            #expect(page.contains("<label for=\"\(name)\">"))
            #expect(page.contains("id=\"\(name)\""))
        }
        #expect(page.contains("<html lang=\"en\">"))
        #expect(page.contains("name=\"viewport\""))
    }

    /// What this server is comes before the forms, in two sentences.
    @Test func theHomePageSaysWhereEachVisitorGoes() async throws {
        let page = text(await api.call(.get, "/"))
        let main = try #require(page.firstRange(of: "<main")).upperBound
        let forms = try #require(page.firstRange(of: "<form")).lowerBound
        let rest = page[main..<forms]
        let start = try #require(rest.firstRange(of: "<p class=\"introduction\">")).upperBound
        let end = try #require(rest[start...].firstRange(of: "</p>")).lowerBound
        let introduction = rest[start..<end]
        for path in ["/signup", "/dashboard", "/llms.txt"] {
            #expect(introduction.contains("<a href=\"\(path)\">"))
        }
        let sentenceEnds = introduction.replacing("\n", with: " ").ranges(of: ". ").count + 1
        #expect(sentenceEnds == 2 && introduction.hasSuffix("."))
    }

    @Test func theHomePageShowsTheKeyAndTheReference() async throws {
        let page = text(await api.call(.get, "/"))
        #expect(page.contains("-----BEGIN PUBLIC KEY-----"))
        #expect(page.contains("POST /validate"))
        #expect(page.contains("\(AgentWorld.issuer)/login"))
    }

    @Test func theStylesheetLoadsNothing() async throws {
        let response = await api.call(.get, "/style.css")
        #expect(response.header("Content-Type") == "text/css; charset=utf-8")
        let css = text(response)
        #expect(css.contains("prefers-color-scheme: dark"))
        #expect(!css.contains("url(") && !css.contains("@import"))
    }

    @Test(arguments: [
        ("Sec-Fetch-Site", "cross-site", 403), ("Origin", "https://evil.test", 403),
        ("Origin", "null", 403), ("Sec-Fetch-Site", "same-origin", 422),
    ])
    func aFormOfAnotherOriginIsForbidden(name: String, value: String, status: Int) async throws {
        let response = await post(
            "/login", "email=a&password=b", headers: [(name, value), ("Host", "auth.mail.test")])
        #expect(response.status.code == status)
    }

    /// DNS rebinding: a page of another site under its own name, which resolves to this server.
    @Test func aPageUnderAnotherHostNameIsNotShown() async throws {
        let hosts: [(String, Bool)] = [
            ("auth.mail.test", true), ("AUTH.mail.test:8443", true), ("evil.test", false),
            ("auth.mail.test.evil.test", false), ("127.0.0.1", false), ("[::1]:80", false),
        ]
        for (host, isShown) in hosts {
            let header = [("Host", host)]
            let home = await api.call(.get, "/", headers: header)
            #expect(home.status == (isShown ? .ok : .misdirectedRequest), "\(host)")
            let form = await post(
                "/login", "email=a&password=b", headers: header + [("Origin", "http://\(host)")])
            #expect(form.status == (isShown ? .unprocessableContent : .misdirectedRequest))
            let json = await api.call(.post, "/validate", json: #"{"token":"a"}"#, headers: header)
            #expect(json.status == .unauthorized)
        }
    }

    @Test func aFieldThatIsGivenTwiceOrNotUTF8IsUnreadable() async throws {
        for body in ["email=a&email=b", "password=%ff%fe", "email=%C3%28"] {
            let response = await post(
                "/login", body, headers: [("Accept", "application/json")])
            #expect(response.status == .badRequest, "\(body)")
        }
        let multipart = await api.router.respond(
            to: Request(
                method: .post, target: "/login",
                headers: [("Content-Type", "multipart/form-data; boundary=x")]))
        #expect(multipart.status == .unsupportedMediaType)
    }

    @Test func registrationLoginValidationAndLogoutWorkByForms() async throws {
        let hash = try Argon2Hash(
            password: Array("test123".utf8),
            cost: .init(memoryKiB: 8, iterations: 1, parallelism: 1), salt: Array("saltsalt".utf8))
        api.world.host.serve(hash.encoded, at: "https://example.com/h")
        let registered = await post(
            "/register",
            "email=me%40example.com&password=test123&password_hash_url=https%3A%2F%2Fexample.com%2Fh"
        )
        #expect(registered.status == .created)
        #expect(text(registered).contains("me@example.com"))
        let login = await post("/login", "email=me%40example.com&password=test123")
        #expect(login.status == .ok)
        let page = text(login)
        let start = try #require(page.firstRange(of: "<textarea")).upperBound
        let open = try #require(page[start...].firstRange(of: ">")).upperBound
        let end = try #require(page[open...].firstRange(of: "</textarea>")).lowerBound
        let token = String(page[open..<end])
        #expect(await post("/validate", "token=\(token)").status == .ok)
        #expect(await post("/logout", "token=\(token)").status == .ok)
        #expect(await post("/validate", "token=\(token)").status == .unauthorized)
    }

    @Test(arguments: [(Duration.seconds(3600), "1 hour"), (.seconds(1800), "30 minutes")])
    func theTextsNameTheConfiguredLifetime(lifetime: Duration, words: String) throws {
        let pages = HashLoginPages(publicURL: AgentWorld.issuer, tokenLifetime: lifetime)
        #expect(text(pages.home(publicKey: "")).contains("expires, \(words) later"))
        let opened = HashLogins.Opened(
            email: try #require(Email(parsing: "ada@example.com")), token: "t", lifetime: lifetime)
        #expect(text(pages.loggedIn(opened)).contains("is logged in for \(words)."))
    }

    private func untyped(
        _ path: String, _ body: String, headers: [(String, String)] = []
    ) async -> Response {
        await api.router.respond(
            to: Request(method: .post, target: path, headers: headers, body: Array(body.utf8)))
    }

    private func post(
        _ path: String, _ form: String, headers: [(String, String)] = [], to api: APIWorld? = nil
    ) async -> Response {
        await (api ?? self.api).router.respond(
            to: Request(
                method: .post, target: path,
                headers: [("Content-Type", "application/x-www-form-urlencoded")] + headers,
                body: Array(form.utf8)))
    }

    private func text(_ response: Response) -> String {
        String(decoding: response.body, as: UTF8.self)
    }
}
