import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI

/// `/api/user/oauth`: logging in with a provider in memory.
struct ProviderEndpointsTests: ProviderTests {
    let api: APIWorld

    init() throws {
        api = try APIWorld(AgentWorld(registrationIsOpen: true))
    }

    private init(_ api: APIWorld) {
        self.api = api
    }

    // MARK: Logging in

    @Test func theProvidersAreListed() async throws {
        let list = try #require(try await get("/oauth").json.list("providers"))
        #expect(list.compactMap { $0.object?.text("name") } == ["id", "work", "github"])
        #expect(list.first?.object?.text("label") == "Identity & Co")
        let dashboard = await api.call(
            .get, "/dashboard", headers: [("Host", "auth.mail.test")])
        let text = String(decoding: dashboard.body, as: UTF8.self)
        #expect(text.contains(#"<a class="button" href="/api/user/oauth/id">"#))
        #expect(text.contains("Identity &amp; Co"))
    }

    @Test(arguments: [
        ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
        ("Origin", "https://evil.test"), ("Origin", "null"),
    ])
    func aPageOfAnotherSiteBeginsNoSignIn(name: String, value: String) async {
        let response = await get("/oauth/id", headers: [(name, value)])
        #expect(response.status.code == 303)
        #expect(response.header("Location") == "/dashboard")
        #expect(response.header("Cache-Control") == "no-store")
        // The one that the browser has begun goes on.
        #expect(response.header("Set-Cookie") == nil)
    }

    @Test(arguments: ["same-origin", "none"])
    func thePagesOfThisServerAndTheAddressBarBeginSignIns(_ site: String) async throws {
        let first = try begun(await get("/oauth/id", headers: [("Sec-Fetch-Site", site)]))
        _ = try token(await finish(first, answer(ada, to: first)))
    }

    @Test func aFirstLoginMakesAUserWithoutAPassword() async throws {
        let pro = try token(await signIn(ada))
        let me = try await api.send(.get, "/me", bearer: pro).json
        #expect(me.text("email") == "ada@example.com")
        #expect(me["has_password"] == .bool(false) && me["email_verified"] == .bool(true))
        let identity = try #require(try await identities(pro).first)
        #expect(identity.names == ["id", "provider", "email", "created_at", "last_used_at"])
        #expect(identity.text("provider") == "id")
        let sessions = try await api.send(.get, "/sessions", bearer: pro).json.list("sessions")
        #expect(sessions?.first?.object?.text("method") == "provider:id")
        // No password logs in, in the same words as for a wrong one.
        try expectError(
            await api.send(
                .post, "/login", json: #"{"email":"ada@example.com","password":"anything"}"#),
            401, "invalid_credentials")
        // API tokens are made as ever, and need no login.
        let made = try await api.send(.post, "/tokens", bearer: pro).json
        let secret = try #require(made.text("token"))
        #expect(await api.send(.get, "/me", bearer: secret).status == .ok)
        #expect(try await kinds() == [.userCreated, .loginSucceeded, .loginFailed, .tokenCreated])
    }

    @Test func laterLoginsAreKnownByTheSubjectOnly() async throws {
        let first = try token(await signIn(ada))
        let id = try await api.send(.get, "/me", bearer: first).json.text("id")
        // The person has another email now, which is not even verified.
        let moved = SoftProvider.Person("ada-1", "new@example.com", isVerified: false)
        let second = try token(await signIn(moved))
        #expect(try await api.send(.get, "/me", bearer: second).json.text("id") == id)
        #expect(try await identities(second).first?.text("email") == "new@example.com")
        #expect(try await api.user("ada@example.com").id.text == id)
    }

    @Test func gitHubLogsIn() async throws {
        let pro = try token(
            await signIn(SoftProvider.Person("583231", "ada@example.com"), at: "github"))
        #expect(try await identities(pro).first?.text("provider") == "github")
    }

    @Test func anEmailOfAUserIsNotTakenOver() async throws {
        _ = try await api.world.addUser("ada@example.com")
        for name in ["id", "github"] {
            try expectError(
                await signIn(SoftProvider.Person("1", "Ada@Example.com"), at: name), 409,
                "link_required")
        }
        let user = try await api.user("ada@example.com")
        #expect(try await api.world.stores.identities.identities(of: user.id).isEmpty)
    }

    @Test func twoSubjectsWithOneEmailAreNotOneUser() async throws {
        _ = try token(await signIn(ada))
        try expectError(
            await signIn(SoftProvider.Person("ada-2", "ada@example.com")), 409, "link_required")
        try expectError(
            await signIn(SoftProvider.Person("3", "ada@example.com"), at: "github"), 409,
            "link_required")
    }

    @Test func anEmailThatIsNotVerifiedMakesNoUser() async throws {
        for person in [
            SoftProvider.Person("1", "a@example.com", isVerified: false),
            SoftProvider.Person("2", nil), SoftProvider.Person("3", "no email"),
            SoftProvider.Person("4", "ädä@example.com"),
        ] {
            try expectError(await signIn(person), 403, "email_not_verified")
        }
        let failures = try await kinds()
        #expect(!failures.isEmpty && failures.allSatisfy { $0 == .loginFailed })
    }

    @Test func onlyTheOperatorGivesAwayReservedEmails() async throws {
        try expectError(
            await signIn(SoftProvider.Person("1", "postmaster@mail.test")), 400, "invalid_email")
    }

    @Test func onlyEmailsOfTheAllowedDomainsLogIn() async throws {
        for person in [
            SoftProvider.Person("1", "a@example.com"),
            SoftProvider.Person("1", "a@sub.work.test"),
            SoftProvider.Person("1", "a@work.test", isVerified: false),
        ] {
            try expectError(await signIn(person, at: "work"), 403, "email_not_allowed")
        }
        _ = try token(await signIn(SoftProvider.Person("1", "a@work.test"), at: "work"))
        // Also who was here before, and has left the company.
        try expectError(
            await signIn(SoftProvider.Person("1", "a@example.com"), at: "work"), 403,
            "email_not_allowed")
    }

    @Test func domainsOpenTheRegistrationOfAClosedServer() async throws {
        let closed = try APIWorld()
        let tests = ProviderEndpointsTests(closed)
        try expectError(await tests.signIn(ada), 403, "registration_closed")
        _ = try tests.token(
            await tests.signIn(SoftProvider.Person("1", "a@work.test"), at: "work"))
        // Who has a user is told so, also there.
        _ = try await closed.world.addUser("ada@example.com")
        try expectError(await tests.signIn(ada), 409, "link_required")
    }

    @Test func aDisabledUserStaysOut() async throws {
        _ = try token(await signIn(ada))
        let user = try await api.user("ada@example.com")
        _ = try await api.world.stores.userDirectory.setState(
            of: user.id, to: .disabled,
            recording: AuditEvent(
                .userDisabled, by: api.world.caller, actor: .operator, subject: "ada"))
        let moved = SoftProvider.Person("ada-1", "new@example.com")
        try expectError(await signIn(moved), 401, "invalid_credentials")
        let noted = try await api.world.stores.identities.identities(of: user.id)
        #expect(noted.map(\.email) == ["ada@example.com"])
    }

    @Test func ofTheProvidersEmailOnlyPrintableCharactersAreShown() async throws {
        let pro = try token(await signIn(ada))
        provider.change { $0.claims = ["email": .string("a\u{1b}[2J\u{202E} d@ä.test")] }
        _ = try token(await signIn(ada))
        #expect(try await identities(pro).first?.text("email") == "a[2Jd@.test")
    }

    @Test func theSecondFactorIsAskedForAfterTheProvider() async throws {
        let pro = try token(await signIn(ada))
        let (secret, _) = try await api.enableTOTP(pro)
        let response = try await signIn(ada)
        #expect(response.status.code == 303)
        #expect(
            !response.headers.contains {
                $0.0 == "Set-Cookie" && $0.1.contains("postern_session")
            })
        let location = try #require(response.header("Location"))
        let parts = location.split(separator: "=", maxSplits: 1)
        #expect(parts.first == "/dashboard#second_factor")
        let rest = parts[1].split(separator: "&")
        #expect(rest.last == "factors=totp,recovery_code")
        let opened = await api.second(
            String(rest[0]), #""code":"\#(api.code(secret))""#)
        #expect(opened.status == .ok)
        let sessions = try await api.send(
            .get, "/sessions", bearer: try opened.json.text("token")
        ).json.list("sessions")
        #expect(
            sessions?.compactMap { $0.object?.text("method") }
                == ["provider:id", "provider:id"])
    }

    // MARK: The browser

    @Test func aSignInEndsOnceAndOnlyInItsBrowser() async throws {
        let begun = try await begin()
        let query = answer(ada, to: begun)
        // Another browser, one with two cookies of the name, and one with another sign-in.
        let other = try await begin()
        for cookie in ["", "\(begun.cookie); \(begun.cookie)", other.cookie] {
            try expectError(
                await finish(begun, query, cookie: cookie), 401, "sign_in_expired")
        }
        _ = try token(await finish(begun, query))
        try expectError(await finish(begun, query), 401, "sign_in_expired")
        // A new code does not help.
        try expectError(
            await finish(begun, answer(ada, to: begun)), 401, "sign_in_expired")
    }

    @Test func aWrongStateIsRefusedAndSpendsNothing() async throws {
        let begun = try await begin()
        let (code, _) = provider.signIn(ada, at: begun.url)
        for query in ["?code=\(code)", "?code=\(code)&state=", "?code=\(code)&state=x", ""] {
            try expectError(await finish(begun, query), 401, "sign_in_expired")
        }
        try expectError(
            await finish(begun, "?code=\(code)&state=a&state=b"), 400, "invalid_request")
        _ = try token(await finish(begun, answer(ada, to: begun)))
    }

    @Test func aSignInEndsAfterTenMinutes() async throws {
        let begun = try await begin()
        let query = answer(ada, to: begun)
        api.world.clock.advance(by: .seconds(600))
        try expectError(await finish(begun, query), 401, "sign_in_expired")
    }

    @Test func aSignInEndsAtItsProvider() async throws {
        let begun = try await begin()
        try expectError(
            await finish(begun, answer(ada, to: begun), at: "work"), 401, "sign_in_expired")
        try expectError(await get("/oauth/other"), 404, "not_found")
        try expectError(await get("/oauth/other/callback"), 404, "not_found")
    }

    @Test func tokensOfOtherKindsAreNoSignIn() async throws {
        let pro = try await api.pro()
        let begun = try await begin()
        try expectError(
            await finish(
                begun, answer(ada, to: begun), cookie: "__Host-postern_sign_in=\(pro)"), 401,
            "sign_in_expired")
        // Nor is it a session.
        let token = begun.cookie.split(separator: "=", maxSplits: 1)[1]
        try expectError(
            await api.send(.get, "/me", bearer: String(token)), 401, "invalid_or_expired_token")
    }

    @Test func anotherHostGetsNoCookie() async throws {
        let begun = try await begin()
        let response = await api.call(
            .get, "/api/user/oauth/id", headers: [("Host", "evil.test")])
        #expect(response.header("Set-Cookie") == nil)
        let ended = await api.call(
            .get, "/api/user/oauth/id/callback" + answer(ada, to: begun),
            headers: [
                ("Host", "evil.test"), ("Cookie", begun.cookie), ("Accept", "application/json"),
            ])
        try expectError(ended, 401, "sign_in_expired")
    }

    // MARK: The provider

    @Test func whatTheProviderDeniesIsSaid() async throws {
        let begun = try await begin()
        let state = try #require(SoftProvider.query(of: begun.url)["state"])
        try expectError(
            await finish(begun, "?error=access_denied&state=\(state)"), 403, "provider_denied")
        #expect(api.world.faults.entries.isEmpty)
        #expect(try await kinds().isEmpty)
        // Another provider cannot say it.
        let next = try await begin()
        let other = try #require(SoftProvider.query(of: next.url)["state"])
        try expectError(
            await finish(next, "?error=access_denied&state=\(other)&iss=https://evil.test"), 401,
            "provider_rejected")
    }

    @Test func anAnswerThatIsNotTheProvidersIsRefused() async throws {
        for change: (inout SoftProvider.Behaviour) -> Void in [
            { $0.claims = ["iss": .string("https://evil.test")] },
            { $0.claims = ["aud": .string("other")] }, { $0.claims = ["nonce": .string("x")] },
            { $0.claims = ["exp": .integer(1)] },
            {
                $0.algorithm = "none"
                $0.sign = { _ in [] }
            }, { $0.header = ["kid": .string("other")] },
        ] {
            provider.change(change)
            try expectError(await signIn(ada), 401, "provider_rejected")
            provider.change {
                $0.claims = [:]
                $0.header = [:]
                $0.algorithm = nil
                $0.sign = nil
            }
        }
        #expect(api.world.faults.entries.count == 6)
        #expect(api.world.faults.entries[0] == "id: the ID token is of another issuer")
        #expect(try await kinds().allSatisfy { $0 == .loginFailed })
        _ = try token(await signIn(ada))
    }

    @Test func anAnswerFromAnotherProviderIsRefused() async throws {
        let begun = try await begin()
        try expectError(
            await finish(begun, answer(ada, to: begun) + "&iss=https://evil.test"), 401,
            "provider_rejected")
        #expect(!provider.paths.contains("/token"))
    }

    @Test func aProviderThatDoesNotAnswerIsSaid() async throws {
        provider.change { $0.unreachable = ["/.well-known/openid-configuration"] }
        let response = await get("/oauth/id")
        try expectError(response, 503, "provider_unavailable")
        #expect(response.header("Retry-After") == "10")
        provider.change { $0.unreachable = ["/token"] }
        try expectError(await signIn(ada), 503, "provider_unavailable")
    }

    @Test func peopleGetAPage() async throws {
        _ = try await api.world.addUser("ada@example.com")
        let begun = try await begin()
        let response = await finish(
            begun, answer(ada, to: begun), accept: "text/html,application/xhtml+xml,*/*;q=0.8")
        #expect(response.status == .conflict)
        #expect(response.header("Content-Type") == "text/html; charset=utf-8")
        #expect(response.header("Cache-Control") == "no-store")
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(text.contains("Sign-in and security") && text.contains("link_required"))
        #expect(!text.contains("<script"))
    }

    /// At once, unlike ``finish(_:_:at:cookie:accept:)``.
    private func guess(_ begun: BegunSignIn? = nil) async -> Response {
        await api.call(
            .get, "/api/user/oauth/id/callback?state=x&code=y",
            headers: [("Accept", "application/json"), ("Host", "auth.mail.test")]
                + (begun.map { [("Cookie", $0.cookie)] } ?? []))
    }

    @Test func failuresMakeTheClientWait() async throws {
        let begun = try await begin()
        for _ in 0..<5 { try expectError(await guess(begun), 401, "sign_in_expired") }
        let response = await guess(begun)
        try expectError(response, 429, "rate_limit_exceeded")
        #expect(response.header("Retry-After") == "1")
        // What waits is not spent.
        api.world.clock.advance(by: .seconds(60))
        _ = try token(await finish(begun, answer(ada, to: begun)))
    }

    @Test func pagesThatSendABrowserHereDoNotMakeItsClientWait() async throws {
        let begun = try await begin()
        for _ in 0..<20 { try expectError(await guess(), 401, "sign_in_expired") }
        _ = try token(await finish(begun, answer(ada, to: begun)))
    }
}
