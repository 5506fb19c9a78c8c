import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// `/api/user/sessions`, and what needs a recent login.
struct SessionEndpointsTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    private func logIn(agent: String) async throws -> String {
        let response = await api.call(
            .post, "/api/user/login",
            json: #"{"email":"owner@example.com","password":"propassword"}"#,
            headers: [("User-Agent", agent)])
        return try #require(try response.json.text("token"))
    }

    private func list(_ token: String) async throws -> [JSONObject] {
        let response = await api.call(.get, "/api/user/sessions", bearer: token)
        #expect(response.status == .ok)
        return try #require(try response.json.list("sessions")).compactMap(\.object)
    }

    @Test func theSessionsOfTheUserAreListed() async throws {
        let first = try await api.pro()
        _ = try await api.pro("other@example.com")
        let start = api.world.clock.now.rfc3339
        api.world.clock.advance(by: .seconds(5))
        let second = try await logIn(agent: "Browser/2.0 (X\u{1})")
        let sessions = try await list(second)
        #expect(sessions.count == 2)
        for session in sessions {
            #expect(
                session.names == [
                    "id", "created_at", "last_used_at", "expires_at", "method", "client", "agent",
                    "current",
                ])
            #expect(session.text("method") == "password")
            #expect(session.text("client") == "127.0.0.1")
        }
        #expect(sessions.map { $0["current"] } == [.bool(true), .bool(false)])
        #expect(sessions[0].text("agent") == "Browser/2.0 (X)")
        #expect(sessions[1].text("agent") == "")
        #expect(sessions[1].text("created_at") == start)
        #expect(try await list(first).map { $0["current"] } == [.bool(false), .bool(true)])
    }

    @Test func aSessionIsEndedByItsID() async throws {
        let (first, second) = (try await api.pro(), try await logIn(agent: "b"))
        let other = try await api.pro("other@example.com")
        let id = try #require(
            try await list(first).first { $0["current"] == .bool(true) }?.text("id"))
        func end(_ id: String, _ token: String) async -> Response {
            await api.call(.delete, "/api/user/sessions/\(id)", bearer: token)
        }
        for (id, token) in [
            (id, other), ("nonsense", second), ("00000000-0000-4000-8000-000000000000", second),
        ] {
            try expectError(await end(id, token), 404, "not_found")
        }
        let ended = await end(id, second)
        #expect(ended.status == .noContent && ended.header("Set-Cookie") == nil)
        try expectError(
            await api.call(.get, "/api/user/me", bearer: first), 401, "invalid_or_expired_token")
        try expectError(await end(id, second), 404, "not_found")
        // Ending the session of the request also removes its cookie.
        let own = try #require(try await list(second).first?.text("id"))
        #expect(await end(own, second).header("Set-Cookie")?.contains("Max-Age=0") == true)
        try expectError(
            await api.call(.get, "/api/user/me", bearer: second), 401, "invalid_or_expired_token")
    }

    @Test func allOtherSessionsAreEnded() async throws {
        let (first, second) = (try await api.pro(), try await logIn(agent: "b"))
        for _ in 0..<2 {
            let response = await api.call(.delete, "/api/user/sessions", bearer: second)
            #expect(response.status == .noContent)
        }
        try expectError(
            await api.call(.get, "/api/user/me", bearer: first), 401, "invalid_or_expired_token")
        #expect(try await list(second).count == 1)
    }

    /// An API token is for programs. It cannot end the sessions of the person.
    @Test func anAPITokenSeesNoSessions() async throws {
        let pro = try await api.pro()
        let token = try #require(
            try await api.call(.post, "/api/user/tokens", bearer: pro).json.text("token"))
        let (_, email) = try await api.account("free@mail.test")
        for (bearer, status, code) in [
            (token, 403, "forbidden"), (email, 403, "forbidden"), (nil, 401, "unauthorized"),
        ] {
            for (method, path) in [
                (HTTPEngine.Method.get, ""), (.delete, ""),
                (.delete, "/00000000-0000-4000-8000-000000000000"),
            ] {
                try expectError(
                    await api.call(method, "/api/user/sessions\(path)", bearer: bearer), status,
                    code)
            }
        }
    }

    /// Adds a user who signs in by an identity provider only.
    private func addPasswordless() async throws -> (user: User, token: String) {
        let world = api.world
        let user = User(
            id: UserID(random: world.random.make(16)),
            email: try #require(Email(parsing: "owner@example.com")), password: nil,
            created: world.clock.now)
        let event = AuditEvent(
            .userCreated, by: world.caller, actor: .anonymous, subject: user.email.text)
        #expect(try await world.stores.users.insert(user, recording: event))
        let opened = try await world.userSessions.open(
            user, by: .provider("test"), agent: nil, for: world.caller)
        return (user, opened.token)
    }

    private func setPassword(_ token: String) async -> Response {
        await api.call(
            .put, "/api/user/password", bearer: token, json: #"{"password":"propassword"}"#)
    }

    @Test func aUserWithoutAPasswordCannotLogInWithOne() async throws {
        _ = try await addPasswordless()
        for password in ["", "propassword"] {
            let response = await api.call(
                .post, "/api/user/login",
                json: #"{"email":"owner@example.com","password":"\#(password)"}"#)
            try expectError(response, 401, "invalid_credentials")
        }
    }

    @Test func aUserWithoutAPasswordSetsOneAfterARecentLogin() async throws {
        let (user, token) = try await addPasswordless()
        let apiToken = try await api.world.apiTokens.create(
            named: "a", lifetime: nil, for: user, by: api.world.caller)
        try expectError(await setPassword(apiToken.secret), 403, "recent_login_required")
        api.world.clock.advance(by: .seconds(600))
        try expectError(await setPassword(token), 403, "recent_login_required")
        let again = try await api.world.userSessions.open(
            user, by: .provider("test"), agent: nil, for: api.world.caller)
        #expect(await setPassword(again.token).status == .ok)
        try expectError(
            await api.call(.get, "/api/user/me", bearer: token), 401, "invalid_or_expired_token")
        // From now on the present password is asked for.
        let next = try await logIn(agent: "b")
        try expectError(await setPassword(next), 400, "invalid_request")
    }
}
