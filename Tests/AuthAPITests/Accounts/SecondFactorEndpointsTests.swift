import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// `/api/user/totp`, `/api/user/recovery-codes` and `/api/user/login/second`.
struct SecondFactorEndpointsTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    private func kinds() async throws -> [AuditEvent.Kind] {
        try await api.world.stores.audit.events(after: nil, limit: 1000).map(\.event.kind)
    }

    @Test func oneTimeCodesAreTurnedOnByTheFirstCode() async throws {
        let pro = try await api.pro()
        #expect(try await api.send(.get, "/totp", bearer: pro).json["enabled"] == .bool(false))
        let begun = try await api.send(.post, "/totp", bearer: pro).json
        #expect(begun.names == ["enrolment", "expires_in", "secret", "uri", "svg"])
        #expect(begun.text("secret")?.utf8.count == 32)
        #expect(begun.text("uri")?.hasPrefix("otpauth://totp/auth.mail.test:owner%40") == true)
        let token = try #require(begun.text("enrolment"))
        try expectError(
            await api.send(
                .post, "/totp/confirm", bearer: pro,
                json: #"{"enrolment":"\#(token)","code":"000000"}"#), 400, "invalid_code")
        // Nothing is on yet.
        #expect(await api.passwordLogin().status == .ok)
        let (_, codes) = try await api.enableTOTP(pro)
        #expect(Set(codes).count == 10)
        let shown = try await api.send(.get, "/totp", bearer: pro).json
        #expect(shown["enabled"] == .bool(true))
        #expect(shown.number("recovery_codes_left") == 10)
        try expectError(await api.send(.post, "/totp", bearer: pro), 409, "totp_exists")
        #expect(try await kinds().last == .otherSessionsEnded)
        #expect(try await kinds().contains(.totpEnabled))
    }

    /// Whoever has seen the secret cannot turn the codes on again with it.
    @Test func anEnrolmentIsConfirmedOnce() async throws {
        let pro = try await api.pro()
        let begun = try await api.send(.post, "/totp", bearer: pro).json
        let secret = try #require(begun.text("secret").flatMap { Base32.decode($0.utf8) })
        let token = try #require(begun.text("enrolment"))
        func confirm() async -> Response {
            await api.send(
                .post, "/totp/confirm", bearer: pro,
                json: #"{"enrolment":"\#(token)","code":"\#(api.code(secret))"}"#)
        }
        #expect(await confirm().status == .created)
        #expect(await api.send(.delete, "/totp", bearer: pro).status == .noContent)
        try expectError(await confirm(), 401, "invalid_challenge")
        #expect(try await api.send(.get, "/totp", bearer: pro).json["enabled"] == .bool(false))
    }

    @Test func anEnrolmentOfAnotherUserIsNotConfirmed() async throws {
        let begun = try await api.send(.post, "/totp", bearer: try await api.pro()).json
        let secret = try #require(begun.text("secret").flatMap { Base32.decode($0.utf8) })
        let token = try #require(begun.text("enrolment"))
        let other = try await api.pro("other@example.com")
        try expectError(
            await api.send(
                .post, "/totp/confirm", bearer: other,
                json: #"{"enrolment":"\#(token)","code":"\#(api.code(secret))"}"#), 401,
            "invalid_challenge")
    }

    @Test func aCodeLogsInOnce() async throws {
        let (secret, _) = try await api.enableTOTP(try await api.pro())
        let challenge = try await api.secondFactorChallenge()
        let code = api.code(secret)
        let response = await api.second(challenge, #""code":"\#(code)""#)
        #expect(response.status == .ok)
        #expect(try response.json.text("email") == "owner@example.com")
        #expect(response.header("Set-Cookie") != nil)
        let token = try #require(try response.json.text("token"))
        let sessions = try await api.send(.get, "/sessions", bearer: token).json.list("sessions")
        #expect(sessions?.first?.object?.text("method") == "password")
        // The code again, and the challenge again with the next code.
        try expectError(
            await api.second(try await api.secondFactorChallenge(), #""code":"\#(code)""#), 401,
            "invalid_credentials")
        api.world.clock.advance(by: .seconds(30))
        try expectError(
            await api.second(challenge, #""code":"\#(api.code(secret))""#), 401,
            "invalid_challenge")
    }

    @Test func theCodeThatTurnedThemOnDoesNotLogIn() async throws {
        let pro = try await api.pro()
        let (secret, _) = try await api.enableTOTP(pro)
        let challenge = try await api.secondFactorChallenge()
        try expectError(
            await api.second(challenge, #""code":"\#(api.code(secret, steps: -1))""#), 401,
            "invalid_credentials")
        #expect(
            await api.second(challenge, #""code":"\#(api.code(secret, steps: 1))""#).status == .ok)
    }

    @Test func aRecoveryCodeLogsInOnce() async throws {
        let pro = try await api.pro()
        let (_, codes) = try await api.enableTOTP(pro)
        func use(_ code: String) async throws -> Int {
            Int(
                await api.second(
                    try await api.secondFactorChallenge(), #""recovery_code":"\#(code)""#
                ).status.code)
        }
        #expect(try await use(codes[0].uppercased()) == 200)
        #expect(try await use(codes[0]) == 401)
        #expect(try await use("aaaaaa-aaaaaa-aaaaaa-aaaaaa") == 401)
        #expect(try await use("") == 401)
        #expect(try await use(codes[1]) == 200)
        #expect(
            try await api.send(.get, "/totp", bearer: pro).json.number("recovery_codes_left") == 8)
        #expect(try await kinds().filter { $0 == .recoveryCodeUsed }.count == 2)
        let made = try await api.send(.post, "/recovery-codes", bearer: pro).json
        let new = try #require(made.list("recovery_codes")).compactMap(\.string)
        #expect(Set(new).isDisjoint(with: codes) && new.count == 10)
        api.world.clock.advance(by: .seconds(60))
        #expect(try await use(codes[2]) == 401)
        #expect(try await use(new[2]) == 200)
    }

    @Test func aPasskeyIsASecondFactor() async throws {
        let pro = try await api.pro()
        var authenticator = try api.authenticator()
        // One that only shows that the user is there.
        authenticator.flags = SoftAuthenticator.userPresent
        _ = try await api.register(authenticator, bearer: pro)
        _ = try await api.enableTOTP(pro)
        let factors = ["totp", "recovery_code", "passkey"]
        let challenge = try await api.secondFactorChallenge(factors)
        let json = #"{"challenge":"\#(challenge)"}"#
        let options = try await api.options("/login/passkey/options", json: json)
        #expect(options.token == challenge)
        #expect(options.key.list("allowCredentials")?.count == 1)
        let credential = try api.credential(authenticator, options.challenge, user: nil)
        let response = await api.second(challenge, #""credential":\#(credential)"#)
        #expect(response.status == .ok)
        try expectError(
            await api.second(challenge, #""credential":\#(credential)"#), 401,
            "invalid_credentials")
    }

    @Test func aPasskeyOfAnotherUserIsNoSecondFactor() async throws {
        let pro = try await api.pro()
        _ = try await api.register(try api.authenticator(), bearer: pro)
        _ = try await api.enableTOTP(pro)
        let foreign = try api.authenticator(2)
        _ = try await api.register(foreign, bearer: try await api.pro("other@example.com"))
        let challenge = try await api.secondFactorChallenge(["totp", "recovery_code", "passkey"])
        let options = try await api.options(
            "/login/passkey/options", json: #"{"challenge":"\#(challenge)"}"#)
        for user in [nil, try await api.user(), try await api.user("other@example.com")] {
            let credential = try api.credential(foreign, options.challenge, user: user)
            try expectError(
                await api.second(challenge, #""credential":\#(credential)"#), 401,
                "invalid_credentials")
        }
    }

    /// A passkey that does not verify its user is one factor, a passkey that does is two.
    @Test func aPasskeyWithoutVerificationNeedsASecondFactor() async throws {
        let pro = try await api.pro()
        var authenticator = try api.authenticator()
        _ = try await api.register(authenticator, bearer: pro)
        let (secret, _) = try await api.enableTOTP(pro)
        let user = try await api.user()
        #expect(try await api.logIn(with: authenticator, of: user).status == .ok)
        authenticator.flags = SoftAuthenticator.userPresent
        let response = try await api.logIn(with: authenticator, of: user)
        #expect(response.status == .unauthorized)
        let body = try response.json
        #expect(body.text("error") == "second_factor_required")
        let challenge = try #require(body.text("challenge"))
        // The same passkey again is no second factor.
        let options = try await api.options(
            "/login/passkey/options", json: #"{"challenge":"\#(challenge)"}"#)
        let credential = try api.credential(authenticator, options.challenge, user: user)
        try expectError(
            await api.second(challenge, #""credential":\#(credential)"#), 401,
            "invalid_credentials")
        let again = try #require(
            try await api.logIn(with: authenticator, of: user).json.text("challenge"))
        let done = await api.second(again, #""code":"\#(api.code(secret))""#)
        #expect(done.status == .ok)
    }

    @Test func theRightPasswordDoesNotClearTheFailuresOfTheSecondFactor() async throws {
        let (secret, _) = try await api.enableTOTP(try await api.pro())
        var statuses: [Int] = []
        for _ in 0..<8 {
            let challenge = try await api.secondFactorChallenge()
            statuses.append(
                Int(await api.second(challenge, #""code":"000000""#).status.code))
        }
        #expect(statuses.prefix(5) == [401, 401, 401, 401, 401])
        #expect(statuses.contains(429))
        // The client is known to the user: after its own wait the right code gets through.
        api.world.clock.advance(by: .seconds(60))
        let challenge = try await api.secondFactorChallenge()
        #expect(
            await api.second(challenge, #""code":"\#(api.code(secret))""#).status == .ok)
        #expect(try await kinds().contains(.loginFailed))
    }

    /// Patient guessing, slower than every wait of the login throttle: 30 guesses in 24 hours.
    @Test func aDayOfGuessingHasAtMostThirtyTries() async throws {
        _ = try await api.enableTOTP(try await api.pro())
        var tries = 0
        for _ in 0..<(24 * 12) {
            api.world.clock.advance(by: .seconds(300 - 2))
            let challenge = try await api.secondFactorChallenge()
            if await api.second(challenge, #""code":"x""#).status == .unauthorized { tries += 1 }
        }
        #expect((28...30).contains(tries))
        // Three codes of a million are valid at a time.
        #expect(Double(tries) * 3 / 1_000_000 <= 1.0 / 10_000)
    }

    @Test func challengesExpireAndBelongToTheirUserAndCredentials() async throws {
        let pro = try await api.pro()
        let (secret, _) = try await api.enableTOTP(pro)
        let challenge = try await api.secondFactorChallenge()
        for token in ["", "x", pro] {
            try expectError(
                await api.second(token, #""code":"\#(api.code(secret))""#), 401,
                "invalid_challenge")
        }
        api.world.clock.advance(by: .seconds(301))
        try expectError(
            await api.second(challenge, #""code":"\#(api.code(secret))""#), 401,
            "invalid_challenge")
        let fresh = try await api.secondFactorChallenge()
        // Ends all sessions: the credential version rises.
        #expect(await api.send(.post, "/logout", bearer: pro).status == .noContent)
        try expectError(
            await api.second(fresh, #""code":"\#(api.code(secret))""#), 401, "invalid_challenge")
    }

    @Test func turningThemOffMakesThePasswordEnough() async throws {
        let pro = try await api.pro()
        let (secret, _) = try await api.enableTOTP(pro)
        let challenge = try await api.secondFactorChallenge()
        let other = try #require(
            try await api.second(challenge, #""code":"\#(api.code(secret))""#).json.text("token"))
        let pending = try await api.secondFactorChallenge()
        #expect(await api.send(.delete, "/totp", bearer: pro).status == .noContent)
        try expectError(await api.send(.delete, "/totp", bearer: pro), 404, "not_found")
        try expectError(await api.send(.post, "/recovery-codes", bearer: pro), 404, "not_found")
        try expectError(
            await api.send(.get, "/me", bearer: other), 401, "invalid_or_expired_token")
        #expect(await api.passwordLogin().status == .ok)
        api.world.clock.advance(by: .seconds(30))
        try expectError(
            await api.second(pending, #""code":"\#(api.code(secret))""#), 401,
            "invalid_credentials")
    }

    @Test func apiTokensAndMailboxesAreNotAsked() async throws {
        let pro = try await api.pro()
        let made = try await api.send(.post, "/tokens", bearer: pro, json: "{}").json
        let token = try #require(made.text("token"))
        _ = try await api.create("box@mail.test", bearer: token)
        _ = try await api.enableTOTP(pro)
        #expect(await api.send(.get, "/me", bearer: token).status == .ok)
        #expect(await api.login("box@mail.test").status == .ok)
    }

    @Test(arguments: [
        "{}", #"{"challenge":"x"}"#, #"{"code":"123456"}"#,
        #"{"challenge":"x","code":"123456","recovery_code":"x"}"#,
        #"{"challenge":"x","code":123456}"#, #"{"challenge":"x","credential":{}}"#,
    ])
    func malformedBodiesAreRefused(json: String) async throws {
        try expectError(
            await api.send(.post, "/login/second", json: json), 400, "invalid_request")
    }
}
