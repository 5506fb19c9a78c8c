import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// `/api/user/passkeys` and `/api/user/login/passkey`.
struct PasskeyEndpointsTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    private func kinds() async throws -> [AuditEvent.Kind] {
        try await api.world.stores.audit.events(after: nil, limit: 1000).map(\.event.kind)
    }

    @Test func aPasskeyIsRegisteredListedRenamedAndRemoved() async throws {
        let pro = try await api.pro()
        let made = try await api.register(try api.authenticator(), name: "Phone", bearer: pro)
        #expect(made.status == .created)
        let names = ["id", "name", "synced", "created_at", "last_used_at"]
        #expect(try made.json.names == names)
        let id = try #require(try made.json.text("id"))
        let list = try await api.send(.get, "/passkeys", bearer: pro).json.list("passkeys")
        #expect(list?.count == 1)
        #expect(list?.first?.object?.text("name") == "Phone")
        let rename = #"{"name":"Old phone"}"#
        #expect(
            await api.send(.put, "/passkeys/\(id)", bearer: pro, json: rename).status == .noContent)
        let other = try await api.pro("other@example.com")
        try expectError(
            await api.send(.put, "/passkeys/\(id)", bearer: other, json: rename), 404, "not_found")
        try expectError(
            await api.send(.delete, "/passkeys/\(id)", bearer: other), 404, "not_found")
        #expect(await api.send(.delete, "/passkeys/\(id)", bearer: pro).status == .noContent)
        try expectError(await api.send(.delete, "/passkeys/\(id)", bearer: pro), 404, "not_found")
        let kinds = try await kinds()
        for kind in [AuditEvent.Kind.passkeyAdded, .passkeyRenamed, .passkeyRemoved] {
            #expect(kinds.filter { $0 == kind }.count == 1)
        }
    }

    @Test func thePasskeyThatIsNamedIsRemoved() async throws {
        let pro = try await api.pro()
        _ = try await api.register(try api.authenticator(1), name: "first", bearer: pro)
        let second = try await api.register(try api.authenticator(2), name: "second", bearer: pro)
        for id in ["00000000-0000-4000-8000-000000000000", "x"] {
            try expectError(
                await api.send(.delete, "/passkeys/\(id)", bearer: pro), 404, "not_found")
        }
        let id = try #require(try second.json.text("id"))
        #expect(await api.send(.delete, "/passkeys/\(id)", bearer: pro).status == .noContent)
        let list = try await api.send(.get, "/passkeys", bearer: pro).json.list("passkeys")
        #expect(list?.map { $0.object?.text("name") } == ["first"])
    }

    @Test func theOptionsAreThoseOfTheSpecification() async throws {
        let pro = try await api.pro()
        _ = try await api.register(try api.authenticator(), bearer: pro)
        let (_, _, key) = try await api.options("/passkeys/options", bearer: pro)
        #expect(key.object("rp")?.text("id") == "auth.mail.test")
        #expect(key.text("attestation") == "none")
        let algorithms = key.list("pubKeyCredParams")?.compactMap { $0.object?.number("alg") }
        #expect(algorithms == [-8, -7, -257])
        let user = try await api.user()
        #expect(
            key.object("user")?.text("id") == Base64URL.encode(Array(user.id.text.utf8)))
        #expect(
            key.object("authenticatorSelection")?.text("residentKey") == "required")
        let excluded = key.list("excludeCredentials")?.compactMap { $0.object?.text("id") }
        #expect(excluded == [Base64URL.encode([UInt8](repeating: 1, count: 16))])
        let login = try await api.options("/login/passkey/options")
        #expect(login.key.text("rpId") == "auth.mail.test")
        #expect(login.key.list("allowCredentials")?.isEmpty == true)
        #expect(login.key.text("userVerification") == "preferred")
    }

    @Test func aPasskeyLogsInWithoutAnEmail() async throws {
        let pro = try await api.pro()
        var authenticator = try api.authenticator()
        _ = try await api.register(authenticator, bearer: pro)
        authenticator.count = 1
        let response = try await api.logIn(with: authenticator, of: try await api.user())
        #expect(response.status == .ok)
        #expect(
            try response.json.names == [
                "user_id", "email", "plan", "status", "downgraded", "token",
            ])
        #expect(try response.json.text("email") == "owner@example.com")
        #expect(response.header("Set-Cookie") != nil)
        let token = try #require(try response.json.text("token"))
        let sessions = try await api.send(.get, "/sessions", bearer: token).json.list("sessions")
        #expect(sessions?.first?.object?.text("method") == "passkey")
        let passkeys = try await api.send(.get, "/passkeys", bearer: token).json.list("passkeys")
        #expect(passkeys?.first?.object?.text("last_used_at") != nil)
    }

    @Test func anAssertionCountsOnce() async throws {
        let pro = try await api.pro()
        let authenticator = try api.authenticator()
        _ = try await api.register(authenticator, bearer: pro)
        let (token, challenge, _) = try await api.options("/login/passkey/options")
        let credential = try api.credential(authenticator, challenge, user: await api.user())
        let json = #"{"challenge":"\#(token)","credential":\#(credential)}"#
        #expect(await api.send(.post, "/login/passkey", json: json).status == .ok)
        try expectError(
            await api.send(.post, "/login/passkey", json: json), 401, "invalid_credentials")
    }

    @Test func aCounterThatDoesNotRiseIsRefusedAndRecorded() async throws {
        let pro = try await api.pro()
        var authenticator = try api.authenticator()
        authenticator.count = 5
        _ = try await api.register(authenticator, bearer: pro)
        for count: UInt32 in [5, 4, 0] {
            authenticator.count = count
            try expectError(
                try await api.logIn(with: authenticator, of: await api.user()), 401,
                "invalid_credentials")
        }
        #expect(try await kinds().filter { $0 == .passkeyRejected }.count == 3)
        authenticator.count = 6
        #expect(try await api.logIn(with: authenticator, of: await api.user()).status == .ok)
    }

    @Test func whatIsNotThePasskeyOfTheUserIsRefused() async throws {
        let pro = try await api.pro()
        let authenticator = try api.authenticator()
        _ = try await api.register(authenticator, bearer: pro)
        _ = try await api.pro("other@example.com")
        let (user, other) = (
            try await api.user(), try await api.user("other@example.com")
        )
        // No user handle, that of another user, an unknown credential, another key, site, origin.
        try expectError(
            try await api.logIn(with: authenticator, of: nil), 401, "invalid_credentials")
        try expectError(
            try await api.logIn(with: authenticator, of: other), 401, "invalid_credentials")
        for change in [
            { $0.id[0] ^= 1 }, { $0.site = "mail.test" }, { $0.origin = "https://mail.test" },
            { $0.flags = SoftAuthenticator.userVerified }, { $0.type = "webauthn.create" },
        ] as [(inout SoftAuthenticator) -> Void] {
            var changed = authenticator
            change(&changed)
            api.world.clock.advance(by: .seconds(300))
            try expectError(
                try await api.logIn(with: changed, of: user), 401, "invalid_credentials")
        }
        api.world.clock.advance(by: .seconds(300))
        try expectError(
            try await api.logIn(with: try api.authenticator(), of: user), 401,
            "invalid_credentials")
        #expect(try await api.logIn(with: authenticator, of: user).status == .ok)
    }

    @Test func aDisabledUserStaysOut() async throws {
        let authenticator = try api.authenticator()
        _ = try await api.register(authenticator, bearer: try await api.pro())
        let user = try await api.user()
        _ = try await api.world.stores.userDirectory.setState(
            of: user.id, to: .disabled,
            recording: AuditEvent(
                .userDisabled, by: api.world.caller, actor: .operator, subject: user.email.text))
        try expectError(
            try await api.logIn(with: authenticator, of: user), 401, "invalid_credentials")
        #expect(try await kinds().last == .loginFailed)
    }

    @Test func failedPasskeysAreFailedLogins() async throws {
        let pro = try await api.pro()
        let authenticator = try api.authenticator()
        _ = try await api.register(authenticator, bearer: pro)
        var other = authenticator
        other.site = "mail.test"
        var statuses: [Int] = []
        for _ in 0..<8 {
            statuses.append(
                Int(try await api.logIn(with: other, of: await api.user()).status.code))
        }
        #expect(statuses.prefix(5) == [401, 401, 401, 401, 401])
        #expect(statuses.contains(429))
        #expect(try await kinds().contains(.loginFailed))
    }

    @Test func challengesOfOtherKindsAndUsersAreRefused() async throws {
        let pro = try await api.pro()
        let other = try await api.pro("other@example.com")
        let authenticator = try api.authenticator()
        let mine = try await api.options("/passkeys/options", bearer: pro)
        let login = try await api.options("/login/passkey/options")
        for (token, challenge) in [
            (login.token, login.challenge), ("x", mine.challenge),
            (mine.token, [UInt8](repeating: 0, count: 32)),
        ] {
            let response = await api.register(
                authenticator, bearer: pro, token: token, challenge: challenge)
            #expect([400, 401].contains(response.status.code))
        }
        try expectError(
            await api.register(
                authenticator, bearer: other, token: mine.token, challenge: mine.challenge), 401,
            "invalid_challenge")
        api.world.clock.advance(by: .seconds(301))
        try expectError(
            await api.register(
                authenticator, bearer: pro, token: mine.token, challenge: mine.challenge), 401,
            "invalid_challenge")
        let fresh = try await api.options("/passkeys/options", bearer: pro)
        let register = { (authenticator: SoftAuthenticator) in
            await api.register(
                authenticator, bearer: pro, token: fresh.token, challenge: fresh.challenge)
        }
        #expect(await register(authenticator).status == .created)
        try expectError(await register(try api.authenticator(2)), 401, "invalid_challenge")
        try expectError(
            try await api.register(authenticator, bearer: other), 409, "passkey_exists")
    }

    @Test func aChangeNeedsARecentLoginAndEndsTheOtherSessions() async throws {
        let pro = try await api.pro()
        let other = try #require(try await api.passwordLogin().json.text("token"))
        let made = try await api.register(try api.authenticator(), bearer: pro)
        let id = try #require(try made.json.text("id"))
        try expectError(
            await api.send(.get, "/me", bearer: other), 401, "invalid_or_expired_token")
        api.world.clock.advance(by: .seconds(600))
        for (method, path) in [
            (.post, "/passkeys/options"), (.delete, "/passkeys/\(id)"), (.post, "/totp"),
            (.delete, "/totp"), (.post, "/recovery-codes"),
        ] as [(HTTPEngine.Method, String)] {
            try expectError(
                await api.send(method, path, bearer: pro), 403, "recent_login_required")
        }
        for path in ["/passkeys", "/totp/confirm"] {
            try expectError(
                await api.send(.post, path, bearer: pro, json: "{}"), 403, "recent_login_required")
        }
        #expect(await api.send(.get, "/passkeys", bearer: pro).status == .ok)
    }

    @Test func apiTokensAndMailboxesHaveNoAccess() async throws {
        let pro = try await api.pro()
        let made = try await api.send(.post, "/tokens", bearer: pro, json: "{}").json
        let token = try #require(made.text("token"))
        let mailbox = try await api.account("box@mail.test").token
        for bearer in [token, mailbox] {
            for path in ["/passkeys", "/totp"] {
                try expectError(await api.send(.get, path, bearer: bearer), 403, "forbidden")
            }
            try expectError(
                await api.send(.post, "/passkeys/options", bearer: bearer), 403, "forbidden")
        }
    }

    @Test(arguments: [
        "{}", #"{"challenge":"x"}"#, #"{"challenge":"x","credential":7}"#,
        #"{"challenge":"x","credential":{"id":"AA=="}}"#,
        #"{"challenge":"x","credential":{"id":"AA","response":{}}}"#,
        #"{"challenge":"x","credential":{"id":"A","response":{"clientDataJSON":"AA"}}}"#,
        #"{"credential":{"id":"AA","response":{"clientDataJSON":"AA","signature":"AA"}}}"#,
    ])
    func malformedBodiesAreRefused(json: String) async throws {
        try expectError(
            await api.send(.post, "/login/passkey", json: json), 400, "invalid_request")
        let pro = try await api.pro()
        try expectError(
            await api.send(.post, "/passkeys", bearer: pro, json: json), 400, "invalid_request")
    }
}
