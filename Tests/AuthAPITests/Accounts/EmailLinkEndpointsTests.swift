import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// `/api/user/password/…`, `/api/user/email/…`, and the notices that users get.
struct EmailLinkEndpointsTests {
    private let api: APIWorld
    private let email = "owner@example.com"

    init() throws {
        api = try APIWorld(AgentWorld(registrationIsOpen: true))
    }

    private func forgot(_ email: String) async -> Response {
        await api.send(.post, "/password/forgot", json: #"{"email":"\#(email)"}"#)
    }

    private func reset(_ members: String) async -> Response {
        await api.send(.post, "/password/reset", json: "{\(members)}")
    }

    @Test func aForgottenPasswordIsReplaced() async throws {
        let pro = try await api.pro()
        let made = await api.send(.post, "/tokens", bearer: pro)
        #expect(made.status == .created)
        let known = await forgot(email)
        let unknown = await forgot("nobody@example.com")
        for response in [known, unknown] {
            #expect(response.status.code == 202)
            #expect(response.body == Array(#"{"message":"sent_if_registered"}"#.utf8))
        }
        #expect(known.headers.map(\.0) == unknown.headers.map(\.0))
        let tokens = try await api.world.mailer.takeTokens()
        #expect(tokens.count == 1)
        let token = try #require(tokens.first)
        try expectError(
            await reset(#""token":"\#(token)","password":"short""#), 400, "password_too_short")
        let done = await reset(
            #""token":"\#(token)","password":"another password","revoke_api_tokens":true"#)
        #expect(done.status == .ok)
        #expect(done.body == Array(#"{"message":"password_reset"}"#.utf8))
        #expect(done.header("Set-Cookie")?.contains("Max-Age=0") == true)
        try expectError(
            await reset(#""token":"\#(token)","password":"a third password""#), 400,
            "invalid_link")
        try expectError(
            await api.send(.get, "/me", bearer: pro), 401, "invalid_or_expired_token")
        let secret = try #require(try made.json.text("token"))
        try expectError(
            await api.send(.get, "/me", bearer: secret), 401, "invalid_or_expired_token")
        let login = await api.send(
            .post, "/login", json: #"{"email":"\#(email)","password":"another password"}"#)
        #expect(login.status == .ok)
        let opened = try #require(try login.json.text("token"))
        let me = try await api.send(.get, "/me", bearer: opened).json
        #expect(me["email_verified"] == .bool(true))
    }

    @Test(arguments: [
        ("/password/forgot", "{}", "invalid_request"),
        ("/password/forgot", #"{"email":"nonsense"}"#, "invalid_email"),
        ("/password/reset", #"{"token":"x"}"#, "invalid_request"),
        ("/password/reset", #"{"token":"x","password":"propassword"}"#, "invalid_link"),
        ("/email/verify", "{}", "invalid_request"),
        ("/email/verify", #"{"token":7}"#, "invalid_request"),
        ("/email/verify", #"{"token":"x"}"#, "invalid_link"),
    ])
    func aBodyIsChecked(path: String, json: String, code: String) async throws {
        try expectError(await api.send(.post, path, json: json), 400, code)
    }

    @Test func aRegistrationIsVerifiedByMail() async throws {
        let response = await api.send(
            .post, "/register", json: #"{"email":"\#(email)","password":"propassword"}"#)
        let pro = try #require(try response.json.text("token"))
        let first = try #require(try await api.world.mailer.takeTokens().first)
        let again = await api.send(.post, "/email/verification", bearer: pro)
        #expect(again.status.code == 202)
        #expect(again.body == Array(#"{"message":"sent"}"#.utf8))
        let second = try #require(try await api.world.mailer.takeTokens().first)
        let done = await api.send(.post, "/email/verify", json: #"{"token":"\#(second)"}"#)
        #expect(done.status == .ok)
        #expect(done.body == Array(#"{"message":"email_verified"}"#.utf8))
        try expectError(
            await api.send(.post, "/email/verify", json: #"{"token":"\#(first)"}"#), 400,
            "invalid_link")
        try expectError(
            await api.send(.post, "/email/verification", bearer: pro), 409, "email_verified")
        #expect(
            try await api.send(.get, "/me", bearer: pro).json["email_verified"] == .bool(true))
    }

    @Test func aVerificationIsSentToALoggedInUserOnly() async throws {
        let pro = try await api.pro()
        let token = try #require(
            try await api.send(.post, "/tokens", bearer: pro).json.text("token"))
        try expectError(await api.send(.post, "/email/verification"), 401, "unauthorized")
        try expectError(
            await api.send(.post, "/email/verification", bearer: token), 403, "forbidden")
        #expect(try await api.world.mailer.take().isEmpty)
    }

    @Test func withoutARelayLinksAreOff() async throws {
        let api = try APIWorld(AgentWorld(sendsMail: false))
        let pro = try await api.pro()
        try expectError(
            await api.send(.post, "/password/forgot", json: #"{"email":"\#(email)"}"#), 403,
            "mail_disabled")
        try expectError(
            await api.send(.post, "/email/verification", bearer: pro), 403, "mail_disabled")
    }

    /// In the order of the changes.
    @Test func everyChangeOfWhatLogsInIsNoticed() async throws {
        let pro = try await api.pro()
        let key = try authenticatorID(await api.register(api.authenticator(), bearer: pro))
        #expect(await api.send(.delete, "/passkeys/\(key)", bearer: pro).status == .noContent)
        let (_, codes) = try await api.enableTOTP(pro)
        let challenge = try await api.secondFactorChallenge()
        #expect(
            await api.second(challenge, #""recovery_code":"\#(codes[0])""#).status == .ok)
        #expect(await api.send(.post, "/recovery-codes", bearer: pro).status == .created)
        #expect(await api.send(.delete, "/totp", bearer: pro).status == .noContent)
        #expect(
            try await api.world.mailer.takeNotices() == [
                .passkeyAdded(name: "key"), .passkeyRemoved(name: "key"), .totpEnabled,
                .recoveryCodeUsed, .recoveryCodesReplaced, .totpDisabled,
            ])
    }

    private func authenticatorID(_ response: Response) throws -> String {
        #expect(response.status == .created)
        return try #require(try response.json.text("id"))
    }

    @Test func thePagesOfLinksSendNoReferrer() async throws {
        for path in ["/reset-password", "/verify-email"] {
            let response = await api.call(.get, path)
            #expect(response.header("Referrer-Policy") == "no-referrer")
            #expect(response.header("Cache-Control") == "no-store")
        }
    }
}
