import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI

/// Linking and unlinking identities: `POST /api/user/oauth/{provider}/link`,
/// `/api/user/identities`.
struct ProviderLinkTests: ProviderTests {
    let api: APIWorld

    init() throws {
        api = try APIWorld(AgentWorld(registrationIsOpen: true))
    }

    @Test func aUserLinksAndUnlinksAnIdentity() async throws {
        let pro = try await api.pro()
        let other = try await api.passwordLogin().json.text("token")
        let linked = try await link(ada, to: pro)
        #expect(linked.status.code == 303)
        #expect(linked.header("Location") == "/dashboard#linked=id")
        #expect(linked.headers.filter { $0.0 == "Set-Cookie" }.count == 1)
        // The user's other sessions have ended.
        try expectError(
            await api.send(.get, "/me", bearer: other), 401, "invalid_or_expired_token")
        // The email at the provider does not matter.
        let again = try token(await signIn(ada))
        #expect(
            try await api.send(.get, "/me", bearer: again).json.text("email")
                == "owner@example.com")
        let id = try #require(try await identities(pro).first?.text("id"))
        #expect(
            await api.send(.delete, "/identities/\(id)", bearer: pro).status == .noContent)
        try expectError(
            await api.send(.delete, "/identities/\(id)", bearer: pro), 404, "not_found")
        try expectError(
            await api.send(.delete, "/identities/x", bearer: pro), 404, "not_found")
        let kinds = try await kinds()
        #expect(kinds.contains(.identityLinked) && kinds.contains(.identityUnlinked))
        #expect(
            try await api.world.mailer.takeNotices() == [
                .providerLinked(name: "id"), .providerUnlinked(name: "id"),
            ])
    }

    @Test func linkingNeedsARecentLoginAndTheSameOrigin() async throws {
        let pro = try await api.pro()
        _ = try await link(ada, to: pro)
        let id = try #require(try await identities(pro).first?.text("id"))
        api.world.clock.advance(by: .seconds(601))
        try expectError(
            await api.send(.post, "/oauth/id/link", bearer: pro), 403, "recent_login_required")
        try expectError(
            await api.send(.delete, "/identities/\(id)", bearer: pro), 403,
            "recent_login_required")
        try expectError(await api.send(.post, "/oauth/id/link"), 401, "unauthorized")
        let fresh = try #require(try await api.passwordLogin().json.text("token"))
        let cookie = ("Cookie", "__Secure-postern_session=\(fresh)")
        for (headers, status) in [
            ([cookie], 200), ([cookie, ("Sec-Fetch-Site", "cross-site")], 403),
            ([cookie, ("Origin", "https://evil.test")], 403),
        ] as [([(String, String)], Int)] {
            let response = await api.call(
                .post, "/api/user/oauth/id/link",
                headers: headers + [("Host", "auth.mail.test")])
            #expect(response.status.code == status)
        }
        // An API token is no login.
        let made = try await api.send(.post, "/tokens", bearer: fresh).json.text("token")
        try expectError(
            await api.send(.post, "/oauth/id/link", bearer: made), 403, "forbidden")
    }

    @Test func anIdentityIsLinkedOnce() async throws {
        let pro = try await api.pro()
        _ = try await link(ada, to: pro)
        let other = try await api.pro("other@example.com")
        try expectError(await link(ada, to: other), 409, "identity_taken")
        try expectError(await link(ada, to: pro), 409, "identity_taken")
        try expectError(
            await link(SoftProvider.Person("ada-2", nil), to: pro), 409, "identity_exists")
        // Somebody else's login is not linked either.
        _ = try token(await signIn(SoftProvider.Person("new", "new@example.com")))
        try expectError(
            await link(SoftProvider.Person("new", nil), to: other), 409, "identity_taken")
    }

    @Test func theIdentityThatIsNamedIsUnlinked() async throws {
        let pro = try await api.pro()
        _ = try await link(ada, to: pro)
        _ = try await link(SoftProvider.Person("583231", nil), to: pro, at: "github")
        let unknown = "00000000-0000-4000-8000-000000000000"
        for id in [unknown, "x"] {
            try expectError(
                await api.send(.delete, "/identities/\(id)", bearer: pro), 404, "not_found")
        }
        let last = try #require(
            try await identities(pro).first { $0.text("provider") == "github" }?.text("id"))
        #expect(
            await api.send(.delete, "/identities/\(last)", bearer: pro).status == .noContent)
        #expect(try await identities(pro).map { $0.text("provider") } == ["id"])
    }

    @Test func anExpiredSessionLinksNothing() async throws {
        let world = api.world
        let user = try await world.addUser("owner@example.com")
        let opened = try await world.userSessions.open(
            user, by: .password, agent: nil, for: world.caller)
        let grant = try await world.authenticator.grant(of: opened.token, at: world.clock.now)
        let session = try #require(grant?.userSession)
        world.clock.advance(by: world.accountsSettings.tokenLifetime - .seconds(9))
        let link = try await world.providerLogins.beginLink(
            at: "id", to: user, in: session, by: world.caller)
        let begun = BegunSignIn(
            url: link.url, cookie: "__Host-postern_sign_in=\(link.token)")
        try expectError(
            await finish(begun, answer(ada, to: begun)), 401, "sign_in_expired")
        #expect(try await world.stores.identities.identities(of: user.id).isEmpty)
    }

    @Test func aLinkEndsWithItsSession() async throws {
        let pro = try await api.pro()
        let begun = try await begunLink(pro)
        #expect(await api.send(.post, "/logout", bearer: pro).status == .noContent)
        try expectError(
            await finish(begun, answer(ada, to: begun)), 401, "sign_in_expired")
    }

    @Test func theLastWayToLogInStays() async throws {
        let pro = try token(await signIn(ada))
        let id = try #require(try await identities(pro).first?.text("id"))
        try expectError(
            await api.send(.delete, "/identities/\(id)", bearer: pro), 409, "last_credential")
        let added = try await api.register(try api.authenticator(), bearer: pro)
        #expect(added.status == .created)
        #expect(
            await api.send(.delete, "/identities/\(id)", bearer: pro).status == .noContent)
        let passkey = try #require(try added.json.text("id"))
        try expectError(
            await api.send(.delete, "/passkeys/\(passkey)", bearer: pro), 409, "last_credential")
    }

    @Test func aUserWithoutAPasswordSetsOneAfterALogin() async throws {
        let pro = try token(await signIn(ada))
        let set = await api.send(
            .put, "/password", bearer: pro, json: #"{"password":"a long new password"}"#)
        #expect(set.status == .ok)
        let login = await api.send(
            .post, "/login",
            json: #"{"email":"ada@example.com","password":"a long new password"}"#)
        #expect(login.status == .ok)
    }
}
