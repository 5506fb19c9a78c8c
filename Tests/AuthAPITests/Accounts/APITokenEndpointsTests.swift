import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

struct APITokenEndpointsTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test func aTokenIsShownOnceAndGivesAccessToWhatItsUserOwns() async throws {
        let pro = try await api.pro()
        let response = await api.call(
            .post, "/api/user/tokens", bearer: pro, json: #"{"name":"ci"}"#)
        #expect(response.status == .created)
        let body = try response.json
        let secret = try #require(body.text("token"))
        #expect(secret.hasPrefix("tm_pro_") && secret.utf8.count >= 7 + 27)
        #expect(body.text("name") == "ci")
        #expect(try await api.create("owned@mail.test", bearer: secret).status == .created)
        let listed = try await tokens(pro)
        #expect(listed.count == 1)
        #expect(
            listed[0].names == [
                "id", "name", "created_at", "last_used_at", "revoked_at", "expires_at", "scopes",
            ])
        let text = String(
            decoding: await api.call(.get, "/api/user/tokens", bearer: pro).body, as: UTF8.self)
        #expect(!text.contains("tm_pro_"))
    }

    @Test func aBodyIsOptional() async throws {
        let pro = try await api.pro()
        for json in [nil, "", "{}", #"{"name":null,"scopes":null}"#] {
            let response = await api.call(.post, "/api/user/tokens", bearer: pro, json: json)
            #expect(response.status == .created)
            #expect(try response.json.text("name") == "API token")
        }
    }

    /// What cannot be read may have been a restriction.
    @Test(arguments: [
        "{", "[]", "null", " ", #"{"expires_in":60"#, #"{"expires_in":60,}"#, "expires_in=60",
        #"{"scopes":["accounts"],"scopes":["accounts"]}"#,
    ])
    func anUnreadableBodyMakesNoToken(json: String) async throws {
        let pro = try await api.pro()
        try expectError(
            await api.call(.post, "/api/user/tokens", bearer: pro, json: json), 400,
            "invalid_request")
        #expect(try await tokens(pro).isEmpty)
    }

    @Test(arguments: [
        (nil, ["accounts", "domains", "tokens"]), (["domains"], ["domains"]),
        (["tokens", "accounts", "accounts"], ["accounts", "tokens"]),
    ])
    func aTokenHasTheScopesThatItIsGiven(given: [String]?, scopes: [String]) async throws {
        let pro = try await api.pro()
        let list = given.map { #"["\#($0.joined(separator: #"",""#))"]"# } ?? "null"
        let made = try await api.call(
            .post, "/api/user/tokens", bearer: pro, json: #"{"scopes":\#(list)}"#
        ).json
        #expect(made.list("scopes") == scopes.map(JSONValue.string))
        #expect(try await tokens(pro)[0].list("scopes") == scopes.map(JSONValue.string))
    }

    @Test(arguments: [
        "[]", #"["all"]"#, #"["accounts",1]"#, #""accounts""#, "{}", #"["Accounts"]"#,
    ])
    func otherScopesAreMalformed(scopes: String) async throws {
        let pro = try await api.pro()
        try expectError(
            await api.call(
                .post, "/api/user/tokens", bearer: pro, json: #"{"scopes":\#(scopes)}"#), 400,
            "invalid_request")
    }

    @Test(arguments: ["accounts", "domains", "tokens"])
    func beyondItsScopesATokenIsForbidden(scope: String) async throws {
        let pro = try await api.pro()
        let account = try await api.create("owned@mail.test", bearer: pro).json.text("id")
        let id = try #require(account)
        let token = try await token(#"{"scopes":["\#(scope)"]}"#, by: pro)
        let uses: [(String, HTTPEngine.Method, String, String?)] = [
            ("accounts", .get, "/api/user/accounts", nil),
            ("accounts", .get, "/api/accounts/\(id)", nil),
            (
                "accounts", .post, "/api/accounts",
                #"{"address":"other@mail.test","password":"supersecret"}"#
            ),
            ("accounts", .delete, "/api/user/accounts/\(id)", nil),
            ("domains", .get, "/api/user/domains", nil),
            ("domains", .post, "/api/user/domains", #"{"domain":"own.example"}"#),
            ("tokens", .get, "/api/user/tokens", nil), ("tokens", .post, "/api/user/tokens", "{}"),
            ("tokens", .put, "/api/user/password", "{}"),
            ("tokens", .post, "/api/user/logout", nil),
            ("", .get, "/api/user/me", nil),
        ]
        for (needed, method, path, json) in uses {
            let response = await api.call(method, path, bearer: token, json: json)
            if needed == scope || needed.isEmpty {
                #expect(response.status.code != 403, "\(method) \(path)")
            } else {
                try expectError(response, 403, "forbidden")
            }
        }
    }

    @Test func aTokenPassesOnNoScopeThatItDoesNotHave() async throws {
        let pro = try await api.pro()
        let parent = try await token(#"{"scopes":["domains","tokens"]}"#, by: pro)
        for scopes in [#"["accounts"]"#, #"["domains","accounts"]"#] {
            try expectError(
                await api.call(
                    .post, "/api/user/tokens", bearer: parent, json: #"{"scopes":\#(scopes)}"#),
                403, "forbidden")
        }
        let made = try await api.call(.post, "/api/user/tokens", bearer: parent).json
        #expect(made.list("scopes") == [.string("domains"), .string("tokens")])
        let child = try await token(#"{"scopes":["domains"]}"#, by: parent)
        try expectError(
            await api.call(.post, "/api/user/tokens", bearer: child), 403, "forbidden")
    }

    @Test func aTokenMakesNoneThatOutlivesIt() async throws {
        let pro = try await api.pro()
        let parent = try await api.call(
            .post, "/api/user/tokens", bearer: pro, json: #"{"expires_in":100}"#
        ).json
        let (secret, end) = (try #require(parent.text("token")), parent.text("expires_at"))
        api.world.clock.advance(by: .seconds(10))
        try expectError(
            await api.call(
                .post, "/api/user/tokens", bearer: secret, json: #"{"expires_in":91}"#), 403,
            "forbidden")
        for json in ["{}", #"{"expires_in":90}"#] {
            let made = await api.call(.post, "/api/user/tokens", bearer: secret, json: json)
            #expect(made.status == .created)
            #expect(try made.json.text("expires_at") == end)
        }
        let shorter = await api.call(
            .post, "/api/user/tokens", bearer: secret, json: #"{"expires_in":60}"#)
        #expect(shorter.status == .created)
    }

    @Test(arguments: [true, false])
    func aPasswordChangeEndsTokensWhenAsked(revokes: Bool) async throws {
        let pro = try await api.pro()
        let secret = try await token("{}", by: pro)
        let body = #""current_password":"propassword","password":"anotherpassword""#
        let changed = await api.call(
            .put, "/api/user/password", bearer: pro,
            json: "{\(body),\"revoke_api_tokens\":\(revokes)}")
        #expect(changed.status == .ok)
        let used = await api.call(.get, "/api/user/me", bearer: secret)
        #expect(used.status.code == (revokes ? 401 : 200))
        let events = try await api.world.stores.audit.latestEvents(limit: 100).map(\.event)
        #expect(events.filter { $0.kind == .tokenRevoked }.count == (revokes ? 1 : 0))
    }

    @Test func whetherTokensEndIsABoolean() async throws {
        let pro = try await api.pro()
        let secret = try await token("{}", by: pro)
        let body = #""current_password":"propassword","password":"anotherpassword""#
        try expectError(
            await api.call(
                .put, "/api/user/password", bearer: pro,
                json: "{\(body),\"revoke_api_tokens\":\"true\"}"), 400, "invalid_request")
        #expect(await api.call(.get, "/api/user/me", bearer: secret).status == .ok)
    }

    @Test func aRevokedTokenIsInvalidAtOnce() async throws {
        let pro = try await api.pro()
        let made = try await api.call(.post, "/api/user/tokens", bearer: pro).json
        let (id, secret) = (try #require(made.text("id")), try #require(made.text("token")))
        #expect(await api.call(.get, "/api/user/me", bearer: secret).status == .ok)
        let revoked = await api.call(.delete, "/api/user/tokens/\(id)", bearer: pro)
        #expect(revoked.status == .noContent)
        try expectError(
            await api.call(.get, "/api/user/me", bearer: secret), 401, "invalid_or_expired_token")
        try expectError(
            await api.call(.delete, "/api/user/tokens/\(id)", bearer: pro), 404, "not_found")
        try expectError(
            await api.call(.delete, "/api/user/tokens/nonsense", bearer: pro), 404, "not_found")
        #expect(try await tokens(pro)[0].text("revoked_at") != nil)
    }

    @Test func aTokenOfAnotherUserIsNotFound() async throws {
        let one = try await api.pro("one@example.com")
        let other = try await api.pro("other@example.com")
        let id = try #require(
            try await api.call(.post, "/api/user/tokens", bearer: one).json.text("id"))
        try expectError(
            await api.call(.delete, "/api/user/tokens/\(id)", bearer: other), 404, "not_found")
    }

    @Test func aTokenIsInvalidFromItsExpiryOn() async throws {
        let pro = try await api.pro()
        let made = await api.call(
            .post, "/api/user/tokens", bearer: pro, json: #"{"expires_in":60}"#)
        let secret = try #require(try made.json.text("token"))
        api.world.clock.advance(by: .seconds(59))
        #expect(await api.call(.get, "/api/user/me", bearer: secret).status == .ok)
        api.world.clock.advance(by: .seconds(1))
        try expectError(
            await api.call(.get, "/api/user/me", bearer: secret), 401, "invalid_or_expired_token")
        for bad in ["0", "-1", "1.5", #""60""#, "1e400", "315360001"] {
            let response = await api.call(
                .post, "/api/user/tokens", bearer: pro, json: #"{"expires_in":\#(bad)}"#)
            #expect(response.status.code == 400, "\(bad)")
        }
    }

    @Test func theLastUseIsUpdatedAtMostOnceAMinute() async throws {
        let pro = try await api.pro()
        let secret = try #require(
            try await api.call(.post, "/api/user/tokens", bearer: pro).json.text("token"))
        func lastUsed() async throws -> String? { try await tokens(pro)[0].text("last_used_at") }
        #expect(try await lastUsed() == nil)
        _ = await api.call(.get, "/api/user/me", bearer: secret)
        let first = try #require(try await lastUsed())
        api.world.clock.advance(by: .seconds(30))
        _ = await api.call(.get, "/api/user/me", bearer: secret)
        #expect(try await lastUsed() == first)
        api.world.clock.advance(by: .seconds(61))
        _ = await api.call(.get, "/api/user/me", bearer: secret)
        #expect(try await lastUsed() == api.world.clock.now.rfc3339)
    }

    @Test func aHundredTokensAreTheMostAndEndedOnesDoNotCount() async throws {
        let pro = try await api.pro()
        func make(_ json: String = "{}") async -> Response {
            await api.call(.post, "/api/user/tokens", bearer: pro, json: json)
        }
        let first = try #require(try await make().json.text("id"))
        for _ in 0..<98 { #expect(await make().status == .created) }
        #expect(await make(#"{"expires_in":60}"#).status == .created)
        try expectError(await make(), 403, "token_limit_reached")
        _ = await api.call(.delete, "/api/user/tokens/\(first)", bearer: pro)
        #expect(await make().status == .created)
        try expectError(await make(), 403, "token_limit_reached")
        api.world.clock.advance(by: .seconds(60))
        #expect(await make().status == .created)
        try expectError(await make(), 403, "token_limit_reached")
    }

    @Test func theListHasAtMost200TokensHoweverManyAreCreated() async throws {
        let pro = try await api.pro()
        var latestCreation = ""
        for number in 0..<250 {
            let json = number % 2 == 0 ? "{}" : #"{"expires_in":60}"#
            let made = await api.call(.post, "/api/user/tokens", bearer: pro, json: json)
            let id = try #require(try made.json.text("id"))
            latestCreation = api.world.clock.now.rfc3339
            if number % 2 == 0 {
                _ = await api.call(.delete, "/api/user/tokens/\(id)", bearer: pro)
            } else {
                api.world.clock.advance(by: .seconds(60))
            }
        }
        #expect(try await tokens(pro).count <= 200)
        let latest = try #require(try await tokens(pro).last)
        #expect(latest.text("created_at") == latestCreation)
    }

    @Test(arguments: [(0, 400), (1, 201), (200, 201), (201, 400)])
    func aNameHas1To200Bytes(count: Int, status: Int) async throws {
        let pro = try await api.pro()
        let name = String(repeating: "n", count: count)
        let response = await api.call(
            .post, "/api/user/tokens", bearer: pro, json: #"{"name":"\#(name)"}"#)
        #expect(response.status.code == status)
        if status == 400 { #expect(try response.code == "invalid_request") }
    }

    @Test func theMediaTypeIsCheckedBeforeTheToken() async throws {
        let pro = try await api.pro()
        for bearer in [pro, "invalid", nil] {
            let response = await api.call(
                .post, "/api/user/tokens", bearer: bearer,
                headers: [("Content-Type", "text/plain")])
            try expectError(response, 415, "unsupported_media_type")
        }
    }

    private func token(_ json: String, by bearer: String) async throws -> String {
        let made = await api.call(.post, "/api/user/tokens", bearer: bearer, json: json)
        #expect(made.status == .created)
        return try #require(try made.json.text("token"))
    }

    private func tokens(_ pro: String) async throws -> [JSONObject] {
        let body = try await api.call(.get, "/api/user/tokens", bearer: pro).json
        return try #require(body.list("tokens")).compactMap { token in
            guard case .object(let token) = token else { return nil }
            return token
        }
    }
}
