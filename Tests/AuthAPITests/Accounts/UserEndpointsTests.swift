import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// Registration, login and logout of Pro users, and their session cookie.
struct UserEndpointsTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld(AgentWorld(registrationIsOpen: true))
    }

    @Test func registrationIsClosedUnlessTheOperatorOpensIt() async throws {
        let closed = try APIWorld()
        let response = await closed.call(
            .post, "/api/user/register", json: #"{"email":"a@b.test","password":"propassword"}"#)
        try expectError(response, 403, "registration_closed")
    }

    @Test func aRegisteredUserIsLoggedIn() async throws {
        let response = await api.call(
            .post, "/api/user/register",
            json: #"{"email":"O'Neil+x@Example.com","password":"propassword"}"#)
        #expect(response.status == .created)
        let body = try response.json
        #expect(body.names == ["user_id", "email", "plan", "status", "token"])
        #expect(body.text("email") == "o'neil+x@example.com")
        #expect(body.text("plan") == "pro" && body.text("status") == "active")
        let token = try #require(body.text("token"))
        #expect(
            response.header("Set-Cookie")
                == "__Secure-postern_session=\(token); HttpOnly; Secure; SameSite=Strict; Path=/api/user"
        )
        #expect(await api.call(.get, "/api/user/me", bearer: token).status == .ok)
    }

    @Test func aRegistrationIsCheckedInTheDocumentedOrder() async throws {
        _ = try await api.world.addUser("a@b.test")
        for (json, status, code) in [
            (#"{"email":"nonsense"}"#, 400, "invalid_request"),
            (#"{"email":"nonsense","password":"x"}"#, 400, "invalid_email"),
            (#"{"email":"a@b.test","password":"short"}"#, 400, "password_too_short"),
            (#"{"email":"A@b.test","password":"propassword"}"#, 409, "email_taken"),
        ] {
            try expectError(
                await api.call(.post, "/api/user/register", json: json), status, code)
        }
    }

    @Test func theProfileCountsMailboxesAndDomains() async throws {
        let pro = try await api.pro()
        _ = try await api.create("owned@mail.test", bearer: pro)
        let body = try await api.call(.get, "/api/user/me", bearer: pro).json
        #expect(
            body.names == [
                "id", "email", "plan", "role", "status", "max_accounts", "max_domains",
                "account_count", "domain_count", "ops_used", "ops_limit", "created_at",
                "downgraded", "has_password", "email_verified",
            ])
        #expect(body.number("account_count") == 1)
        #expect(body.number("max_accounts") == 7)
    }

    @Test func aWrongEmailAndAWrongPasswordHaveTheSameResponse() async throws {
        _ = try await api.world.addUser("a@b.test")
        let bodies = [
            #"{"email":"a@b.test","password":"wrong"}"#,
            #"{"email":"no@b.test","password":"wrong"}"#,
        ]
        var responses: [[UInt8]] = []
        for json in bodies {
            let response = await api.call(.post, "/api/user/login", json: json)
            try expectError(response, 401, "invalid_credentials")
            responses.append(response.body)
        }
        #expect(responses[0] == responses[1])
    }

    @Test func aLogoutEndsEveryProJWTAndNoAPIToken() async throws {
        let pro = try await api.pro()
        let token = try #require(
            try await api.call(.post, "/api/user/tokens", bearer: pro).json.text("token"))
        let response = await api.call(.post, "/api/user/logout", bearer: pro)
        #expect(response.status == .noContent)
        #expect(response.header("Set-Cookie")?.contains("Max-Age=0") == true)
        try expectError(
            await api.call(.get, "/api/user/me", bearer: pro), 401, "invalid_or_expired_token")
        #expect(await api.call(.get, "/api/user/me", bearer: token).status == .ok)
    }

    @Test func aPasswordChangeNeedsTheCurrentPasswordAndEndsEveryProJWT() async throws {
        let pro = try await api.pro()
        func change(_ current: String, _ new: String) async -> Response {
            await api.call(
                .put, "/api/user/password", bearer: pro,
                json: #"{"current_password":"\#(current)","password":"\#(new)"}"#)
        }
        try expectError(await change("wrongwrong", "newpassword"), 401, "invalid_credentials")
        try expectError(await change("propassword", "short"), 400, "password_too_short")
        let changed = await change("propassword", "newpassword")
        #expect(changed.status == .ok)
        #expect(try changed.json.text("message") == "password_reset")
        #expect(changed.header("Set-Cookie")?.contains("Max-Age=0") == true)
        try expectError(await change("newpassword", "again123"), 401, "invalid_or_expired_token")
    }

    @Test func theCookieCountsUnderApiUserOnlyAndOnlyWithoutAuthorization() async throws {
        let pro = try await api.pro()
        let cookie = [("Cookie", "theme=dark; __Secure-postern_session=\(pro)")]
        #expect(await api.call(.get, "/api/user/me", headers: cookie).status == .ok)
        try expectError(
            await api.call(.get, "/api/user/me", bearer: "invalid", headers: cookie), 401,
            "invalid_or_expired_token")
        let id = "00000000-0000-4000-8000-000000000000"
        try expectError(
            await api.call(.get, "/api/accounts/\(id)", headers: cookie), 401, "unauthorized")
        let two = [("Cookie", "__Secure-postern_session=\(pro); __Secure-postern_session=other")]
        try expectError(await api.call(.get, "/api/user/me", headers: two), 401, "unauthorized")
        let empty = [("Cookie", "__Secure-postern_session=\(pro)"), ("Authorization", "Bearer")]
        #expect(await api.call(.get, "/api/user/me", headers: empty).status == .ok)
    }

    /// DNS rebinding: a page of another site under its own name, which resolves to this server.
    @Test(arguments: [
        ("auth.mail.test", true), ("Auth.Mail.Test:8443", true), ("evil.test", false),
        ("localhost", false), ("127.0.0.1:8080", false),
    ])
    func theCookieIsForTheHostOfThePublicURL(host: String, counts: Bool) async throws {
        let pro = try await api.pro("owner@example.com")
        let login = await api.call(
            .post, "/api/user/login",
            json: #"{"email":"owner@example.com","password":"propassword"}"#,
            headers: [("Host", host)])
        #expect((login.header("Set-Cookie") != nil) == counts)
        let headers = [("Cookie", "__Secure-postern_session=\(pro)"), ("Host", host)]
        let response = await api.call(.get, "/api/user/me", headers: headers)
        #expect(response.status.code == (counts ? 200 : 401))
        let bearer = await api.call(.get, "/api/user/me", bearer: pro, headers: [("Host", host)])
        #expect(bearer.status == .ok)
    }

    @Test(arguments: [
        ("Sec-Fetch-Site", "same-site", false), ("Origin", "https://evil.mail.test", false),
        ("Sec-Fetch-Site", "same-origin", true), ("Origin", "https://auth.mail.test", true),
    ])
    func aLoginFromAPageOfAnotherOriginGetsNoCookie(name: String, value: String, getsCookie: Bool)
        async throws
    {
        _ = try await api.pro("owner@example.com")
        let response = await api.call(
            .post, "/api/user/login",
            json: #"{"email":"owner@example.com","password":"propassword"}"#,
            headers: [("Host", "auth.mail.test"), (name, value)])
        #expect(response.status == .ok)
        #expect((response.header("Set-Cookie") != nil) == getsCookie)
    }

    @Test(arguments: [
        ("Sec-Fetch-Site", "cross-site", 403), ("Sec-Fetch-Site", "same-site", 403),
        ("Sec-Fetch-Site", "same-origin", 201), ("Sec-Fetch-Site", "none", 201),
        ("Origin", "https://evil.test", 403), ("Origin", "null", 403),
        ("Origin", "https://auth.mail.test", 201),
    ])
    func aWriteWithACookieFromAPageOfAnotherOriginIsForbidden(
        name: String, value: String, status: Int
    ) async throws {
        let pro = try await api.pro()
        let headers = [
            ("Cookie", "__Secure-postern_session=\(pro)"), ("Host", "auth.mail.test"),
            (name, value),
        ]
        let write = await api.call(.post, "/api/user/tokens", headers: headers)
        #expect(write.status.code == status)
        #expect(await api.call(.get, "/api/user/me", headers: headers).status == .ok)
        // A browser sends no token in Authorization by itself.
        let bearer = await api.call(
            .post, "/api/user/tokens", bearer: pro,
            headers: [("Host", "auth.mail.test"), (name, value)])
        #expect(bearer.status == .created)
    }
}
