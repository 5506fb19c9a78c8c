import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// Which token gives access to which mailbox.
struct AccountsAccessTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    private enum Token: CaseIterable { case none, garbage, otherKind, email, proJWT, apiToken }
    private enum Target: CaseIterable { case own, another, missing }

    @Test func eachTokenGivesAccessToItsOwnMailboxesOnly() async throws {
        let free = try await api.account("free@mail.test")
        let other = try await api.account("other@mail.test")
        let pro = try await api.pro()
        let owned = try await api.create("owned@mail.test", bearer: pro).json
        let apiToken = try #require(
            try await api.call(.post, "/api/user/tokens", bearer: pro).json.text("token"))
        let session = try await api.signUp("myagent").session
        let missing = "00000000-0000-4000-8000-000000000000"
        let ownedID = try #require(owned.text("id"))
        for token in Token.allCases {
            for target in Target.allCases {
                let isOwner = token == .proJWT || token == .apiToken
                let id =
                    switch target {
                    case .own: isOwner ? ownedID : free.id
                    case .another: isOwner ? free.id : other.id
                    case .missing: missing
                    }
                let bearer: String? =
                    switch token {
                    case .none: nil
                    case .garbage: "garbage"
                    case .otherKind: session
                    case .email: free.token
                    case .proJWT: pro
                    case .apiToken: apiToken
                    }
                let (status, code) = expected(token, target)
                for (method, suffix, json) in [
                    (HTTPEngine.Method.get, "", nil),
                    (.put, "/reset-password", #"{"password":"short"}"#),
                ] {
                    let response = await api.call(
                        method, "/api/accounts/\(id)\(suffix)", bearer: bearer, json: json)
                    if status == 200 && method == .put {
                        try expectError(response, 400, "password_too_short")
                    } else {
                        #expect(response.status.code == status, "\(token) \(target) \(method)")
                        if status != 200 { #expect(try response.code == code) }
                    }
                }
            }
        }
    }

    private func expected(_ token: Token, _ target: Target) -> (Int, String) {
        switch (token, target) {
        case (.none, _): (401, "unauthorized")
        case (.garbage, _), (.otherKind, _): (401, "invalid_or_expired_token")
        case (.email, .own), (.proJWT, .own), (.apiToken, .own): (200, "")
        case (.email, _): (403, "forbidden")
        case (.proJWT, _), (.apiToken, _): (404, "not_found")
        }
    }

    @Test func userEndpointsNeedATokenOfAUser() async throws {
        let (_, token) = try await api.account("free@mail.test")
        for path in ["/api/user/me", "/api/user/accounts", "/api/user/tokens", "/api/user/domains"]
        {
            try expectError(await api.call(.get, path, bearer: token), 403, "forbidden")
            try expectError(await api.call(.get, path), 401, "unauthorized")
            try expectError(
                await api.call(.get, path, bearer: "tm_pro_nothing"), 401,
                "invalid_or_expired_token")
        }
    }

    @Test(arguments: [
        (HTTPEngine.Method.post, "/api/user/tokens"),
        (.put, "/api/accounts/a@mail.test/reset-password"),
        (.put, "/api/user/accounts/a@mail.test/reset-password"), (.put, "/api/user/password"),
        (.post, "/api/user/domains"),
    ])
    func theMediaTypeIsCheckedBeforeTheTokenAndTheTokenBeforeTheBody(
        method: HTTPEngine.Method, path: String
    ) async throws {
        for bearer in [nil, "dead"] {
            let typed = await api.call(
                method, path, bearer: bearer, headers: [("Content-Type", "text/plain")])
            try expectError(typed, 415, "unsupported_media_type")
            let broken = await api.call(method, path, bearer: bearer, json: "{")
            #expect(broken.status == .unauthorized)
        }
        let pro = try await api.pro()
        let cookie = await api.call(
            method, path, json: "{",
            headers: [
                ("Cookie", "__Secure-postern_session=\(pro)"), ("Origin", "https://evil.test"),
            ])
        #expect([401, 403].contains(cookie.status.code))
    }

    @Test func anAuthorizationThatIsNotABearerTokenIsInvalid() async throws {
        let (id, token) = try await api.account("free@mail.test")
        for value in ["Basic \(token)", token, "Bearer\t\(token)"] {
            let headers = [("Authorization", value)]
            for (method, path) in [
                (HTTPEngine.Method.get, "/api/accounts/\(id)"), (.get, "/api/user/me"),
            ] {
                let response = await api.call(method, path, headers: headers)
                try expectError(response, 401, "invalid_or_expired_token")
            }
            let created = await api.call(
                .post, "/api/accounts",
                json: #"{"address":"a@mail.test","password":"supersecret"}"#,
                headers: headers)
            try expectError(created, 401, "invalid_or_expired_token")
        }
        for value in ["Bearer", "bearer  "] {
            let response = await api.call(
                .get, "/api/accounts/\(id)", headers: [("Authorization", value)])
            try expectError(response, 401, "unauthorized")
        }
    }

    @Test func aUserResetsAndDeletesTheirMailboxesUnderBothPaths() async throws {
        let pro = try await api.pro()
        for (index, prefix) in ["/api/accounts", "/api/user/accounts"].enumerated() {
            let address = "owned\(index)@mail.test"
            let id = try #require(try await api.create(address, bearer: pro).json.text("id"))
            let reset = await api.call(
                .put, "\(prefix)/\(id)/reset-password", bearer: pro,
                json: #"{"password":"another-one"}"#)
            #expect(reset.status == .ok)
            #expect(await api.login(address, password: "another-one").status == .ok)
            let deleted = await api.call(.delete, "\(prefix)/\(address)", bearer: pro)
            #expect(deleted.status == .noContent)
            try expectError(
                await api.call(.delete, "\(prefix)/\(id)", bearer: pro), 404, "not_found")
        }
    }

    @Test func aMailboxOfAUserHasTheProQuotaAndCountsAgainstTheLimit() async throws {
        let pro = try await api.pro()
        for number in 0..<7 {
            let response = try await api.create("owned\(number)@mail.test", bearer: pro)
            #expect(response.status == .created)
        }
        // The limit is checked before the address.
        try expectError(
            try await api.create("owned0@mail.test", bearer: pro), 403, "account_limit_reached")
        let shown = try await api.call(.get, "/api/accounts/owned1@mail.test", bearer: pro).json
        #expect(shown.number("quota") == 52_428_800)
    }

    @Test func aDisabledMailboxCannotBeResetByItsOwner() async throws {
        let pro = try await api.pro()
        let text = try #require(
            try await api.create("owned@mail.test", bearer: pro).json.text("id"))
        let id = try #require(AccountID(text))
        #expect(try await api.world.disable(id))
        // Not 503: trying again does not help.
        for _ in 0..<2 {
            let response = await api.call(
                .put, "/api/accounts/\(text)/reset-password", bearer: pro,
                json: #"{"password":"another-one"}"#)
            try expectError(response, 403, "forbidden")
        }
        try expectError(
            await api.login("owned@mail.test", password: "another-one"), 401, "invalid_credentials")
    }
}
