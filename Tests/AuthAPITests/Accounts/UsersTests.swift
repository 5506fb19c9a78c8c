import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// Pro users: registration, login, cookies, pages.
struct UsersTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld(AgentWorld(registrationIsOpen: true))
    }

    @Test func registrationIsClosedUnlessTheOperatorOpensIt() async throws {
        let closed = try APIWorld()
        let response = await closed.call(
            .post, "/api/user/register", json: #"{"email":"a@b.test","password":"propassword"}"#)
        try expectRefusal(response, 403, "registration_closed")
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
                == "postern_session=\(token); HttpOnly; Secure; SameSite=Strict; Path=/api/user")
        #expect(await api.call(.get, "/api/user/me", bearer: token).status == .ok)
    }

    @Test func registrationRefusesInOrder() async throws {
        _ = try await api.world.addUser("a@b.test")
        for (json, status, code) in [
            (#"{"email":"nonsense"}"#, 400, "invalid_request"),
            (#"{"email":"nonsense","password":"x"}"#, 400, "invalid_email"),
            (#"{"email":"a@b.test","password":"short"}"#, 400, "password_too_short"),
            (#"{"email":"A@b.test","password":"propassword"}"#, 409, "email_taken"),
        ] {
            try expectRefusal(
                await api.call(.post, "/api/user/register", json: json), status, code)
        }
    }

    @Test func theProfileCounts() async throws {
        let pro = try await api.pro()
        _ = try await api.create("owned@mail.test", bearer: pro)
        let body = try await api.call(.get, "/api/user/me", bearer: pro).json
        #expect(
            body.names == [
                "id", "email", "plan", "role", "status", "max_accounts", "max_domains",
                "account_count", "domain_count", "ops_used", "ops_limit", "created_at",
                "downgraded",
            ])
        #expect(body.number("account_count") == 1)
        #expect(body.number("max_accounts") == 7)
    }

    @Test func wrongEmailAndWrongPasswordAreAnsweredAlike() async throws {
        _ = try await api.world.addUser("a@b.test")
        let bodies = [
            #"{"email":"a@b.test","password":"wrong"}"#,
            #"{"email":"no@b.test","password":"wrong"}"#,
        ]
        for json in bodies {
            try expectRefusal(
                await api.call(.post, "/api/user/login", json: json), 401, "invalid_credentials")
        }
    }

    @Test func aLogoutEndsEveryProTokenButNoAPIToken() async throws {
        let pro = try await api.pro()
        let token = try #require(
            try await api.call(.post, "/api/user/tokens", bearer: pro).json.text("token"))
        let response = await api.call(.post, "/api/user/logout", bearer: pro)
        #expect(response.status == .noContent)
        #expect(response.header("Set-Cookie")?.contains("Max-Age=0") == true)
        try expectRefusal(
            await api.call(.get, "/api/user/me", bearer: pro), 401, "invalid_or_expired_token")
        #expect(await api.call(.get, "/api/user/me", bearer: token).status == .ok)
    }

    @Test func aPasswordChangeNeedsTheOldOneAndEndsEveryProToken() async throws {
        let pro = try await api.pro()
        func change(_ current: String, _ new: String) async -> Response {
            await api.call(
                .put, "/api/user/password", bearer: pro,
                json: #"{"current_password":"\#(current)","password":"\#(new)"}"#)
        }
        try expectRefusal(await change("wrongwrong", "newpassword"), 401, "invalid_credentials")
        try expectRefusal(await change("propassword", "short"), 400, "password_too_short")
        #expect(await change("propassword", "newpassword").status == .ok)
        try expectRefusal(await change("newpassword", "again123"), 401, "invalid_or_expired_token")
    }

    @Test func theCookieOpensOnlyItsOwnPathAndOnlyWithoutAuthorization() async throws {
        let pro = try await api.pro()
        let cookie = [("Cookie", "theme=dark; postern_session=\(pro)")]
        #expect(await api.call(.get, "/api/user/me", headers: cookie).status == .ok)
        try expectRefusal(
            await api.call(.get, "/api/user/me", bearer: "dead", headers: cookie), 401,
            "invalid_or_expired_token")
        let id = "00000000-0000-4000-8000-000000000000"
        try expectRefusal(
            await api.call(.get, "/api/accounts/\(id)", headers: cookie), 401, "unauthorized")
        let two = [("Cookie", "postern_session=\(pro); postern_session=planted")]
        try expectRefusal(await api.call(.get, "/api/user/me", headers: two), 401, "unauthorized")
        let empty = [("Cookie", "postern_session=\(pro)"), ("Authorization", "Bearer")]
        #expect(await api.call(.get, "/api/user/me", headers: empty).status == .ok)
    }

    @Test(arguments: [
        ("Sec-Fetch-Site", "same-site", false), ("Origin", "https://evil.mail.test", false),
        ("Sec-Fetch-Site", "same-origin", true), ("Origin", "https://auth.mail.test", true),
    ])
    func aForeignPageLogsNobodyIn(name: String, value: String, getsCookie: Bool) async throws {
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
    func aForeignWriteWithACookieIsRefused(name: String, value: String, status: Int) async throws {
        let pro = try await api.pro()
        let headers = [
            ("Cookie", "postern_session=\(pro)"), ("Host", "auth.mail.test"), (name, value),
        ]
        let write = await api.call(.post, "/api/user/tokens", headers: headers)
        #expect(write.status.code == status)
        #expect(await api.call(.get, "/api/user/me", headers: headers).status == .ok)
        // A token in Authorization is not sent by a browser of itself.
        let bearer = await api.call(
            .post, "/api/user/tokens", bearer: pro,
            headers: [("Host", "auth.mail.test"), (name, value)])
        #expect(bearer.status == .created)
    }

    @Test func pagesAreStableWhileAccountsAreAdded() async throws {
        let pro = try await api.pro()
        var made: [String] = []
        for number in 0..<5 {
            let body = try await api.create("owned\(number)@mail.test", bearer: pro).json
            made.append(try #require(body.text("id")))
            api.world.clock.advance(by: .seconds(1))
        }
        let first = try await api.call(.get, "/api/user/accounts", bearer: pro).json
        let cursor = try #require(first.text("next_cursor"))
        #expect(!cursor.isEmpty)
        _ = try await api.create("late@mail.test", bearer: pro)
        let second = try await api.call(
            .get, "/api/user/accounts?cursor=\(cursor)", bearer: pro
        ).json
        #expect(second.text("next_cursor") == "")
        let ids = try ids(first) + ids(second)
        #expect(Array(ids.prefix(5)) == made)
        #expect(ids.count == 6)
        for bad in ["x", "AAAA", cursor + "A", "%00"] {
            let response = await api.call(.get, "/api/user/accounts?cursor=\(bad)", bearer: pro)
            try expectRefusal(response, 400, "invalid_request")
        }
    }

    private func ids(_ page: JSONObject) throws -> [String] {
        try #require(page.list("accounts")).compactMap { account in
            guard case .object(let account) = account else { return nil }
            #expect(account.names == ["id", "address", "quota", "used", "created_at"])
            return account.text("id")
        }
    }
}
