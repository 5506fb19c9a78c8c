import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

/// Requests with passkeys and one-time codes. A second passes before each, so that the limits of
/// requests are not in the way.
extension APIWorld {
    func send(
        _ method: HTTPEngine.Method, _ path: String, bearer: String? = nil, json: String? = nil
    ) async -> Response {
        world.clock.advance(by: .seconds(1))
        return await call(method, "/api/user" + path, bearer: bearer, json: json)
    }

    func authenticator(_ number: UInt8 = 1) throws -> SoftAuthenticator {
        var authenticator = try SoftAuthenticator(id: [UInt8](repeating: number, count: 16))
        authenticator.site = "auth.mail.test"
        authenticator.origin = AgentWorld.issuer
        return authenticator
    }

    /// The token and the challenge of options for passkeys.
    func options(
        _ path: String, bearer: String? = nil, json: String? = nil
    ) async throws -> (token: String, challenge: [UInt8], key: JSONObject) {
        let response = await send(.post, path, bearer: bearer, json: json)
        #expect(response.status == .ok)
        let body = try response.json
        let key = try #require(body.object("public_key"))
        let challenge = try #require(key.text("challenge").flatMap { Base64URL.decode($0.utf8) })
        #expect(challenge.count == 32)
        return (try #require(body.text("challenge")), challenge, key)
    }

    /// POST /api/user/passkeys
    func register(
        _ authenticator: SoftAuthenticator, name: String = "key", bearer: String
    ) async throws -> Response {
        let (token, challenge, _) = try await options("/passkeys/options", bearer: bearer)
        return await register(
            authenticator, name: name, bearer: bearer, token: token, challenge: challenge)
    }

    func register(
        _ authenticator: SoftAuthenticator, name: String = "key", bearer: String, token: String,
        challenge: [UInt8]
    ) async -> Response {
        let (clientData, object) = authenticator.registration(challenge)
        let id = Base64URL.encode(authenticator.id)
        return await send(
            .post, "/passkeys", bearer: bearer,
            json: #"""
                {"challenge":"\#(token)","name":"\#(name)","credential":{"id":"\#(id)",
                "rawId":"\#(id)","type":"public-key","response":{
                "clientDataJSON":"\#(Base64URL.encode(clientData))",
                "attestationObject":"\#(Base64URL.encode(object))"}}}
                """#)
    }

    /// The member `credential` of a login with a passkey.
    func credential(
        _ authenticator: SoftAuthenticator, _ challenge: [UInt8], user: User?
    ) throws -> String {
        let made = try authenticator.assertion(challenge)
        let id = Base64URL.encode(authenticator.id)
        let handle = user.map { #","userHandle":"\#(Base64URL.encode($0.handle))""# } ?? ""
        return #"""
            {"id":"\#(id)","rawId":"\#(id)","type":"public-key","response":{
            "clientDataJSON":"\#(Base64URL.encode(made.clientData))",
            "authenticatorData":"\#(Base64URL.encode(made.authenticatorData))",
            "signature":"\#(Base64URL.encode(made.signature))"\#(handle)}}
            """#
    }

    /// POST /api/user/login/passkey
    func logIn(
        with authenticator: SoftAuthenticator, of user: User?
    ) async throws -> Response {
        let (token, challenge, _) = try await options("/login/passkey/options")
        let credential = try credential(authenticator, challenge, user: user)
        return await send(
            .post, "/login/passkey", json: #"{"challenge":"\#(token)","credential":\#(credential)}"#
        )
    }

    func user(_ email: String = "owner@example.com") async throws -> User {
        let email = try #require(Email(parsing: email))
        return try #require(try await world.stores.users.user(email: email))
    }

    /// Turns one-time codes on.
    func enableTOTP(_ bearer: String) async throws -> (secret: [UInt8], codes: [String]) {
        let begun = try await send(.post, "/totp", bearer: bearer).json
        let secret = try #require(begun.text("secret").flatMap { Base32.decode($0.utf8) })
        let token = try #require(begun.text("enrolment"))
        let response = await send(
            .post, "/totp/confirm", bearer: bearer,
            json: #"{"enrolment":"\#(token)","code":"\#(code(secret))"}"#)
        #expect(response.status == .created)
        let codes = try #require(try response.json.list("recovery_codes")).compactMap(\.string)
        // The next request is in another step of the codes.
        world.clock.advance(by: .seconds(30))
        return (secret, codes)
    }

    /// The code of the present time, or of `steps` after it.
    func code(_ secret: [UInt8], steps: Int64 = 0) -> String {
        // `send` lets a second pass.
        let time = world.clock.now.advanced(by: .seconds(1))
        return TOTP.code(for: secret, step: TOTP.step(at: time) + steps)
    }

    /// POST /api/user/login with the password of the user.
    func passwordLogin(_ password: String = "propassword") async -> Response {
        await send(
            .post, "/login",
            json: #"{"email":"owner@example.com","password":"\#(password)"}"#)
    }

    /// The challenge of a login that needs a second factor.
    func secondFactorChallenge(
        _ factors: [String] = ["totp", "recovery_code"]
    ) async throws -> String {
        let response = await passwordLogin()
        #expect(response.status == .unauthorized)
        #expect(response.header("Set-Cookie") == nil)
        #expect(response.header("WWW-Authenticate") == "Bearer")
        let body = try response.json
        #expect(body.names == ["error", "message", "challenge", "expires_in", "factors"])
        #expect(body.text("error") == "second_factor_required")
        #expect(body.list("factors")?.compactMap(\.string) == factors)
        return try #require(body.text("challenge"))
    }

    /// POST /api/user/login/second
    func second(_ challenge: String, _ member: String) async -> Response {
        await send(.post, "/login/second", json: #"{"challenge":"\#(challenge)",\#(member)}"#)
    }
}
