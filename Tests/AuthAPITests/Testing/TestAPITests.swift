import AuthAPI
import AuthCore
import HTTPEngine
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

/// The endpoints of the test profile. That they exist nowhere else, and that time has effects, is
/// tested with the program (Tests/Interop/test_test_profile.py).
@Suite struct TestAPITests {
    private let api: APIWorld
    private let clock: AdjustableClock
    private let router: Router
    private let ran = Record<Bool>()

    init() throws {
        let api = try APIWorld()
        let clock = AdjustableClock(api.world.clock.clocks)
        let fixtures = TestFixtures(
            agents: api.world.agents, mailboxes: api.world.mailboxes, users: api.world.users,
            apiTokens: api.world.apiTokens, stores: api.world.stores, clock: clock,
            random: api.world.random.make, runDueTasks: { [ran] in ran.add(true) })
        let test = TestAPI(
            fixtures: fixtures, publicURL: "http://127.0.0.1:8080", clock: clock.clocks, mail: .none
        )
        self.api = api
        self.clock = clock
        router = Router(
            groups: api.groups + [test.routes], fallback: { _, _ in .init(status: .ok) })
    }

    private func call(
        _ method: HTTPEngine.Method, _ target: String, json: String? = nil, bearer: String? = nil,
        headers: [(String, String)] = []
    ) async -> Response {
        var headers = headers
        if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
        return await router.respond(
            to: Request(
                method: method, target: target, headers: headers, body: Array((json ?? "").utf8)))
    }

    private func make(_ what: String, _ json: String) async throws -> [JSONObject] {
        let response = await call(.post, "/test/\(what)", json: json)
        #expect(response.status == .created)
        return try #require(try response.json.list(what)).compactMap(\.object)
    }

    @Test func anAgentIsMadeWithoutAProof() async throws {
        let made = try await make("accounts", #"[{"agent":true,"address":"bob@mail.test"}]"#)
        let agent = try #require(made.first)
        #expect(agent.names == ["id", "address", "api_key", "token", "expires_at"])
        #expect(agent.text("address") == "bob@mail.test")
        let now = api.world.clock.now
        #expect(agent.text("expires_at") == now.advanced(by: .seconds(3600)).rfc3339)
        let token = try #require(agent.text("token"))
        #expect(await call(.post, "/api/v1/capability", bearer: token).status == .ok)
        let (challenge, proof) = try await api.solvedChallenge()
        let key = try #require(agent.text("api_key"))
        let login = await call(
            .post, "/api/v1/session", json: proof.json(#""apiKey":"\#(key)""#), bearer: challenge)
        #expect(login.status == .ok)
    }

    @Test func mailboxesAreMadeInTheOrderOfTheList() async throws {
        let made = try await make(
            "accounts", #"[{"address":"b@mail.test","password":"secret"},{},{"agent":false}]"#)
        #expect(made.count == 3)
        #expect(made[0].names == ["id", "address", "password", "token", "expires_at"])
        #expect(made[0].text("address") == "b@mail.test" && made[0].text("password") == "secret")
        for box in made {
            let (address, password) = (box.text("address") ?? "", box.text("password") ?? "")
            #expect(await api.login(address, password: password).status == .ok)
            let id = try #require(box.text("id"))
            let seen = await call(.get, "/api/accounts/\(id)", bearer: box.text("token"))
            #expect(seen.status == .ok)
        }
    }

    @Test func reservedNamesAreGivenOut() async throws {
        let made = try await make("accounts", #"[{"address":"postmaster@mail.test"}]"#)
        #expect(made.first?.text("address") == "postmaster@mail.test")
    }

    @Test func aUserOwnsAccountsAndGetsTokensOfEveryKind() async throws {
        let user = try #require(try await make("users", #"[{"email":"ada@example.com"}]"#).first)
        #expect(user.names == ["id", "email", "password", "token", "expires_at"])
        let boxes = try await make(
            "accounts", #"[{"address":"x@mail.test","owner":"ada@example.com"}]"#)
        let owned = await call(.get, "/api/user/accounts", bearer: user.text("token"))
        #expect(try owned.json.list("accounts")?.first?.object?["id"] == boxes.first?["id"])
        let tokens = try await make(
            "tokens",
            """
            [{"kind":"user","email":"ada@example.com"},
             {"kind":"api_token","email":"ada@example.com"},
             {"kind":"api_token","email":"ada@example.com","name":"ci","expires_in":60,
              "scopes":["domains"]},
             {"kind":"account","address":"x@mail.test"},
             {"kind":"capability","address":"x@mail.test"}]
            """)
        let now = api.world.clock.now
        #expect(tokens[1]["expires_at"] == .null)
        #expect(tokens[2].text("expires_at") == now.advanced(by: .seconds(60)).rfc3339)
        #expect(tokens[4].text("expires_at") == now.advanced(by: .seconds(120)).rfc3339)
        #expect(tokens.map { $0["id"] != nil } == [false, true, true, false, false])
        for (index, path, status) in [
            (0, "/api/user/me", Status.ok), (1, "/api/user/accounts", .ok),
            (2, "/api/user/domains", .ok), (2, "/api/user/accounts", .forbidden),
            (3, "/api/accounts/x@mail.test", .ok), (4, "/userinfo", .ok),
        ] {
            let answer = await call(.get, path, bearer: tokens[index].text("token"))
            #expect(answer.status == status, "\(index) \(path)")
        }
    }

    @Test func afterAResetEverythingIsGoneAndCanBeMadeAgain() async throws {
        let box = #"[{"address":"x@mail.test"}]"#
        let made = try #require(try await make("accounts", box).first)
        #expect(await call(.post, "/test/clock", json: #"{"advance":99}"#).status == .ok)
        let reset = await call(.post, "/test/reset")
        #expect(reset.status == .noContent)
        #expect(clock.now == api.world.clock.now)
        let old = await call(.get, "/api/accounts/x@mail.test", bearer: made.text("token"))
        try expectError(old, 401, "invalid_or_expired_token")
        #expect(try await call(.get, "/test/events").json.list("events") == [])
        #expect(try await make("accounts", box).count == 1)
    }

    @Test func theClockIsSetAndAdvanced() async throws {
        let set = await call(.post, "/test/clock", json: #"{"set":"2030-01-15T10:30:00Z"}"#)
        #expect(try set.json.text("now") == "2030-01-15T10:30:00Z")
        #expect(ran.entries.count == 1)
        let moved = await call(.post, "/test/clock", json: #"{"advance":60,"set":null}"#)
        #expect(try moved.json.text("now") == "2030-01-15T10:31:00Z")
        #expect(ran.entries.count == 2)
        let back = await call(.post, "/test/clock", json: #"{"set":"1970-01-01T00:00:00Z"}"#)
        #expect(try back.json.text("now") == "1970-01-01T00:00:00Z")
        #expect(ran.entries.count == 2)
        #expect(try await call(.get, "/test/clock").json.text("now") == "1970-01-01T00:00:00Z")
        let made = try #require(try await make("accounts", "[{}]").first)
        #expect(made.text("expires_at") == "1970-01-08T00:00:00Z")
    }

    @Test func eventsAreReadInPages() async throws {
        _ = try await make("accounts", "[{},{},{}]")
        let first = try await call(.get, "/test/events?limit=2").json
        let events = try #require(first.list("events")).compactMap(\.object)
        #expect(events.map { $0.text("kind") } == ["account_created", "account_created"])
        #expect(
            events[0].names == [
                "sequence", "time", "kind", "actor", "subject", "client", "request_id", "count",
            ])
        let last = try #require(first.number("last"))
        #expect(last == events[1].number("sequence"))
        let second = try await call(.get, "/test/events?after=\(last)").json
        #expect(second.list("events")?.count == 1)
        let end = try #require(second.number("last"))
        let third = try await call(.get, "/test/events?after=\(end)").json
        #expect(third.list("events")?.isEmpty == true && third.number("last") == end)
    }

    @Test(arguments: [
        ("accounts", ""), ("accounts", "{}"), ("accounts", "[]"), ("accounts", "[1]"),
        ("accounts", #"[{"address":1}]"#), ("accounts", #"[{"agent":"yes"}]"#),
        ("accounts", #"[{"agent":true,"password":"secret"}]"#),
        ("accounts", #"[{"agent":true,"owner":"ada@example.com"}]"#),
        ("accounts", #"[{"address":"a@mail.test","address":"b@mail.test"}]"#),
        ("users", #"[{"email":1}]"#), ("tokens", "[{}]"), ("tokens", #"[{"kind":"root"}]"#),
        ("tokens", #"[{"kind":"user"}]"#), ("tokens", #"[{"kind":"account","email":"a@b.c"}]"#),
        ("tokens", #"[{"kind":"api_token","email":"a@b.c","expires_in":59}]"#),
        ("tokens", #"[{"kind":"api_token","email":"a@b.c","scopes":[]}]"#),
        ("clock", "{}"), ("clock", "[]"), ("clock", #"{"set":"now"}"#),
        ("clock", #"{"set":"2026-01-15T10:30:00+01:00"}"#), ("clock", #"{"advance":-1}"#),
        ("clock", #"{"advance":1.5}"#), ("clock", #"{"advance":"1"}"#),
        ("clock", #"{"advance":1,"set":"2026-01-15T10:30:00Z"}"#),
        ("clock", #"{"advance":9223372036854775807}"#), ("clock", #"{"set":"1969-12-31"}"#),
    ])
    func aBodyThatCannotBeReadMakesNothing(path: String, json: String) async throws {
        let response = await call(.post, "/test/\(path)", json: json)
        try expectError(response, 400, "invalid_request")
        #expect(try await call(.get, "/test/events").json.list("events") == [])
        #expect(clock.now == api.world.clock.now)
    }

    @Test func aListHasAnEnd() async throws {
        func list(_ count: Int) -> String {
            "[" + Array(repeating: #"{"agent":true}"#, count: count).joined(separator: ",") + "]"
        }
        #expect(try await make("accounts", list(100)).count == 100)
        for path in ["accounts", "users", "tokens"] {
            let response = await call(.post, "/test/\(path)", json: list(101))
            try expectError(response, 400, "invalid_request")
        }
    }

    @Test(arguments: [
        ("accounts", #"[{"address":"no mailbox"}]"#, 400, "invalid_address"),
        ("accounts", #"[{"address":"a@other.test"}]"#, 400, "invalid_domain"),
        ("accounts", #"[{"address":"a@other.test","agent":true}]"#, 400, "invalid_domain"),
        ("accounts", #"[{"password":"short"}]"#, 400, "password_too_short"),
        ("accounts", #"[{"owner":"nobody@example.com"}]"#, 404, "not_found"),
        (
            "accounts", #"[{"address":"a@mail.test"},{"address":"a@mail.test"}]"#, 409,
            "address_taken"
        ),
        (
            "accounts", #"[{"address":"a@mail.test","agent":true},{"address":"A@mail.test"}]"#, 409,
            "address_taken"
        ),
        ("users", #"[{"email":"nobody"}]"#, 400, "invalid_email"),
        ("users", #"[{"password":"password1"}]"#, 400, "password_too_common"),
        ("users", #"[{"email":"a@b.test"},{"email":"a@b.test"}]"#, 409, "email_taken"),
        ("tokens", #"[{"kind":"account","address":"a@mail.test"}]"#, 404, "not_found"),
        ("tokens", #"[{"kind":"capability","address":"?"}]"#, 404, "not_found"),
        ("tokens", #"[{"kind":"user","email":"nobody@example.com"}]"#, 404, "not_found"),
    ])
    func whatCannotBeMadeIsAnErrorOfTheAccountsAPI(
        path: String, json: String, status: Int, code: String
    ) async throws {
        try expectError(await call(.post, "/test/\(path)", json: json), status, code)
    }

    @Test(arguments: [
        "after=-1", "after=x", "after=1&after=2", "after=9223372036854775808", "limit=0",
        "limit=1001", "limit=+5", "limit=",
    ])
    func aPageThatIsNoPageIsRefused(query: String) async throws {
        try expectError(await call(.get, "/test/events?\(query)"), 400, "invalid_request")
    }

    @Test(arguments: [
        (Method.get, "/test/messages", ""), (.delete, "/test/messages", ""),
        (.post, "/test/messages", #"[{"to":"a@mail.test"}]"#),
        (.post, "/test/mail", #"{"fail":"rcpt"}"#), (.get, "/test/messages/1/source", ""),
    ])
    func withoutMailItsEndpointsSayWhatToSet(
        method: HTTPEngine.Method, path: String, json: String
    ) async throws {
        let response = await call(method, path, json: json)
        try expectError(response, 503, "mail_store_missing")
        #expect(try response.json.text("message")?.contains("mail.store") == true)
    }

    @Test func aPageOfAnotherOriginGetsNothing() async throws {
        for (method, path) in [(Method.post, "reset"), (.get, "events"), (.post, "clock")] {
            let response = await call(
                method, "/test/\(path)", headers: [("Origin", "https://evil.example")])
            try expectError(response, 403, "forbidden")
        }
    }

    @Test(arguments: ["evil.example.org:8080", "localhost.evil.org", "evil.org."])
    func aHostOfAnotherSiteGetsNothing(host: String) async throws {
        for (method, path) in [(Method.post, "reset"), (.get, "events"), (.get, "messages")] {
            let response = await call(
                method, "/test/\(path)",
                headers: [("Host", host), ("Origin", "http://\(host)")])
            try expectError(response, 403, "forbidden")
        }
    }

    @Test func otherTypesThanJSONAreRefused() async throws {
        let form = [("Content-Type", "application/x-www-form-urlencoded")]
        for path in ["clock", "accounts", "users", "tokens"] {
            let response = await call(.post, "/test/\(path)", json: "[{}]", headers: form)
            try expectError(response, 415, "unsupported_media_type")
        }
    }
}
