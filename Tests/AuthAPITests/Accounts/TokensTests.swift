import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// Pro API tokens.
struct TokensTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test func aTokenIsShownOnceAndOpensWhatItsUserOwns() async throws {
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
                "id", "name", "created_at", "last_used_at", "revoked_at", "expires_at",
            ])
        let text = String(
            decoding: await api.call(.get, "/api/user/tokens", bearer: pro).body, as: UTF8.self)
        #expect(!text.contains("tm_pro_"))
    }

    @Test func noBodyIsNeededAndWhatIsNoneIsIgnored() async throws {
        let pro = try await api.pro()
        for json in [nil, "", "{", "[]", "{}", #"{"name":null}"#] {
            let response = await api.call(.post, "/api/user/tokens", bearer: pro, json: json)
            #expect(response.status == .created)
            #expect(try response.json.text("name") == "API token")
        }
    }

    @Test func aRevokedTokenIsDeadAtOnce() async throws {
        let pro = try await api.pro()
        let made = try await api.call(.post, "/api/user/tokens", bearer: pro).json
        let (id, secret) = (try #require(made.text("id")), try #require(made.text("token")))
        #expect(await api.call(.get, "/api/user/me", bearer: secret).status == .ok)
        let revoked = await api.call(.delete, "/api/user/tokens/\(id)", bearer: pro)
        #expect(revoked.status == .noContent)
        try expectRefusal(
            await api.call(.get, "/api/user/me", bearer: secret), 401, "invalid_or_expired_token")
        try expectRefusal(
            await api.call(.delete, "/api/user/tokens/\(id)", bearer: pro), 404, "not_found")
        try expectRefusal(
            await api.call(.delete, "/api/user/tokens/nonsense", bearer: pro), 404, "not_found")
        #expect(try await tokens(pro)[0].text("revoked_at") != nil)
    }

    @Test func anothersTokenIsNotFound() async throws {
        let one = try await api.pro("one@example.com")
        let other = try await api.pro("other@example.com")
        let id = try #require(
            try await api.call(.post, "/api/user/tokens", bearer: one).json.text("id"))
        try expectRefusal(
            await api.call(.delete, "/api/user/tokens/\(id)", bearer: other), 404, "not_found")
    }

    @Test func anExpiryHolds() async throws {
        let pro = try await api.pro()
        let made = await api.call(
            .post, "/api/user/tokens", bearer: pro, json: #"{"expires_in":60}"#)
        let secret = try #require(try made.json.text("token"))
        api.world.clock.advance(by: .seconds(59))
        #expect(await api.call(.get, "/api/user/me", bearer: secret).status == .ok)
        api.world.clock.advance(by: .seconds(1))
        try expectRefusal(
            await api.call(.get, "/api/user/me", bearer: secret), 401, "invalid_or_expired_token")
        for bad in ["0", "-1", "1.5", #""60""#, "1e400", "315360001"] {
            let response = await api.call(
                .post, "/api/user/tokens", bearer: pro, json: #"{"expires_in":\#(bad)}"#)
            // 1e400 is no JSON number here, so the whole body is none and is ignored.
            #expect(response.status.code == (bad == "1e400" ? 201 : 400), "\(bad)")
        }
    }

    @Test func useIsNotedAtMostOnceAMinute() async throws {
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

    @Test func aHundredTokensLiveAndThoseThatEndedMakeRoom() async throws {
        let pro = try await api.pro()
        func make(_ json: String = "{}") async -> Response {
            await api.call(.post, "/api/user/tokens", bearer: pro, json: json)
        }
        let first = try #require(try await make().json.text("id"))
        for _ in 0..<98 { #expect(await make().status == .created) }
        #expect(await make(#"{"expires_in":60}"#).status == .created)
        try expectRefusal(await make(), 403, "token_limit_reached")
        _ = await api.call(.delete, "/api/user/tokens/\(first)", bearer: pro)
        #expect(await make().status == .created)
        try expectRefusal(await make(), 403, "token_limit_reached")
        api.world.clock.advance(by: .seconds(60))
        #expect(await make().status == .created)
        try expectRefusal(await make(), 403, "token_limit_reached")
    }

    @Test func howeverManyAreMadeAndRevokedTheListStaysShort() async throws {
        let pro = try await api.pro()
        for number in 0..<250 {
            let json = number % 2 == 0 ? "{}" : #"{"expires_in":60}"#
            let made = await api.call(.post, "/api/user/tokens", bearer: pro, json: json)
            let id = try #require(try made.json.text("id"))
            if number % 2 == 0 {
                _ = await api.call(.delete, "/api/user/tokens/\(id)", bearer: pro)
            } else {
                api.world.clock.advance(by: .seconds(60))
            }
        }
        #expect(try await tokens(pro).count <= 200)
        let latest = try await tokens(pro).last?.text("created_at")
        #expect(latest != nil)
    }

    private func tokens(_ pro: String) async throws -> [JSONObject] {
        let body = try await api.call(.get, "/api/user/tokens", bearer: pro).json
        return try #require(body.list("tokens")).compactMap { token in
            guard case .object(let token) = token else { return nil }
            return token
        }
    }
}
