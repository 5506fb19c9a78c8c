import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// The responses of the hash-login API as JSON.
struct HashLoginAPITests {
    private let api: APIWorld
    private let url = "https://example.com/hash.txt"

    init() throws {
        api = try APIWorld()
        api.world.host.serve(try Self.hash(of: "test123"), at: url)
    }

    @Test func aRegistrationIsCreatedAndALoginGivesAToken() async throws {
        let registered = await register("User@Example.com")
        #expect(registered.status == .created)
        #expect(try registered.json.names == ["email", "password_hash_url"])
        #expect(try registered.json.text("email") == "user@example.com")
        let login = await login("user@example.com")
        #expect(login.status == .ok)
        let body = try login.json
        #expect(body.names == ["token", "token_type", "email"])
        #expect(body.text("token_type") == "Bearer")
        #expect(login.header("Cache-Control") == "no-store")
    }

    @Test func aTokenHasTheDocumentedClaimsAndAKeySetOfItsOwn() async throws {
        let token = try await token()
        let parts = token.split(separator: ".").map(String.init)
        guard
            case .object(let claims) = try JSONValue.parse(
                try #require(Base64URL.decode(parts[1].utf8)))
        else { throw NoObject() }
        #expect(claims.names == ["iss", "sub", "email", "email_verified", "ver", "iat", "exp"])
        #expect(claims.text("iss") == AgentWorld.loginIssuer)
        #expect(claims.text("sub") == "user@example.com")
        #expect(claims.number("exp") == (claims.number("iat") ?? 0) + 3600)
        let set = try await api.call(.get, "/.well-known/login-jwks.json").json
        guard case .object(let key)? = try #require(set.list("keys")).first else {
            throw NoObject()
        }
        let modulus = try #require(key.text("n"))
        let rsa = try PublicKey(
            modulus: try #require(Base64URL.decode(modulus.utf8)), exponent: [1, 0, 1])
        let signature = try #require(Base64URL.decode(parts[2].utf8))
        #expect(rsa.isValid(signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
        let capabilities = await api.call(.get, "/.well-known/jwks.json")
        #expect(!String(decoding: capabilities.body, as: UTF8.self).contains(modulus))
        let home = String(decoding: await api.call(.get, "/").body, as: UTF8.self)
        let pem = rsa.pem.split(separator: "\n")[1]
        #expect(home.contains(pem))
    }

    @Test func aLoginTokenIsInvalidForOtherAPIs() async throws {
        let token = try await token()
        #expect(await api.call(.get, "/.well-known/jmap", bearer: token).status == .unauthorized)
        #expect(await api.call(.post, "/api/v1/capability", bearer: token).status == .unauthorized)
        #expect(await api.call(.get, "/api/user/me", bearer: token).status == .unauthorized)
        let session = try await api.signUp("myagent").session
        let capability = try await api.call(.post, "/api/v1/capability", bearer: session).bearer
        for other in [session, capability] {
            let response = await validate(other)
            #expect(response.status == .unauthorized)
        }
    }

    @Test func aTokenIsReadFromTheFieldOrTheHeaderAndTheFieldCounts() async throws {
        let token = try await token()
        for response in [
            await validate(token),
            await api.call(
                .post, "/validate", bearer: token, headers: [("Accept", "application/json")]),
            await api.call(
                .post, "/validate", bearer: "garbage", json: #"{"token":"\#(token)"}"#),
        ] {
            #expect(response.status == .ok)
            let body = try response.json
            #expect(body["valid"] == .bool(true))
            let payload = try #require(body.object("payload"))
            #expect(
                payload.names == ["sub", "email", "email_verified", "iss", "iat", "exp", "ver"])
            #expect(payload.number("iat") == api.world.clock.now.seconds)
        }
        let invalid = await api.call(
            .post, "/validate", bearer: token, json: #"{"token":"garbage"}"#)
        #expect(invalid.status == .unauthorized)
        #expect(invalid.header("WWW-Authenticate") == "Bearer")
        #expect(
            String(decoding: invalid.body, as: UTF8.self)
                == #"{"valid":false,"error":"Invalid token."}"#)
    }

    @Test(arguments: [HTTPEngine.Method.post, .delete])
    func aLogoutEndsEveryEarlierToken(method: HTTPEngine.Method) async throws {
        let first = try await token()
        let second = try #require(try await login("user@example.com").json.text("token"))
        let response = await api.call(
            method, "/logout", bearer: first, headers: [("Accept", "application/json")])
        #expect(response.status == .ok)
        #expect(try response.json["success"] == .bool(true))
        for token in [first, second] { #expect(await validate(token).status == .unauthorized) }
        let again = await api.call(
            method, "/logout", bearer: first, headers: [("Accept", "application/json")])
        #expect(again.status == .unauthorized)
        #expect(try again.json.text("error") == "Invalid token or credentials.")
        let newer = try #require(try await login("user@example.com").json.text("token"))
        #expect(await validate(newer).status == .ok)
    }

    @Test func anEmptyFieldCountsAsAbsent() async throws {
        let token = try await token()
        let valid = await api.call(.post, "/validate", bearer: token, json: #"{"token":""}"#)
        #expect(valid.status == .ok)
        let ended = await api.call(.post, "/logout", bearer: token, json: #"{"token":""}"#)
        #expect(ended.status == .ok)
    }

    /// Many clients send a media type without a body.
    @Test(arguments: [
        ("application/json", 400), ("application/x-www-form-urlencoded", 422), ("text/plain", 415),
    ])
    func anEmptyBodyMayHaveAnyMediaTypeWhereTheTokenIsInTheHeader(
        type: String, loginStatus: Int
    ) async throws {
        let token = try await token()
        let headers = [("Content-Type", type), ("Accept", "application/json")]
        #expect(
            await api.call(.post, "/validate", bearer: token, headers: headers).status == .ok)
        #expect(
            await api.call(.delete, "/logout", bearer: token, headers: headers).status == .ok)
        #expect(await api.call(.post, "/login", headers: headers).status.code == loginStatus)
    }

    @Test func aLogoutTakesThePasswordToo() async throws {
        let token = try await token()
        let wrong = await api.call(
            .post, "/logout", json: #"{"email":"user@example.com","password":"wrong"}"#)
        #expect(wrong.status == .unauthorized)
        #expect(await validate(token).status == .ok)
        let right = await api.call(
            .post, "/logout", json: #"{"email":"user@example.com","password":"test123"}"#)
        #expect(try right.json.text("email") == "user@example.com")
        #expect(await validate(token).status == .unauthorized)
    }

    @Test func aLoginChecksWhatTheURLServesNow() async throws {
        _ = try await token()
        api.world.host.serve(try Self.hash(of: "another"), at: url)
        try expectFailed(await login("user@example.com"))
        #expect(await login("user@example.com", "another").status == .ok)
        api.world.host.remove(url)
        try expectFailed(await login("user@example.com", "another"))
    }

    @Test func aRegistrationThatFailsHasTheDocumentedSentence() async throws {
        api.world.host.serve("no hash", at: "https://example.com/none.txt")
        for (fields, text) in [
            (#"{}"#, "Email can't be blank."),
            (#"{"email":"  "}"#, "Email can't be blank."),
            (#"{"email":"nonsense"}"#, "Email is invalid."),
            (#"{"email":"\u00e9@example.com"}"#, "Email is invalid."),
            (#"{"email":"me@mail.test"}"#, "Email is invalid."),
            (#"{"email":"a@b.test"}"#, "Password can't be blank."),
            (#"{"email":"a@b.test","password":""}"#, "Password can't be blank."),
            (#"{"email":"a@b.test","password":"x"}"#, "Password hash URL is invalid."),
            (
                #"{"email":"a@b.test","password":"x","password_hash_url":"ftp://b.test/"}"#,
                "Password hash URL is invalid."
            ),
            (
                #"{"email":"a@b.test","password":"x","password_hash_url":"https://gone.test/"}"#,
                "Could not fetch password hash URL."
            ),
            (
                #"{"email":"a@b.test","password":"x","password_hash_url":"https://example.com/none.txt"}"#,
                "Password hash URL did not return an Argon2 hash."
            ),
            (
                #"{"email":"a@b.test","password":"x","password_hash_url":"\#(url)"}"#,
                "Password does not match the remote Argon2 hash."
            ),
        ] {
            let response = await api.call(.post, "/register", json: fields)
            #expect(response.status == .unprocessableContent, "\(fields)")
            #expect(try response.json.text("error") == text, "\(fields)")
        }
    }

    @Test func whetherAnEmailIsTakenIsReportedOnlyWithThePassword() async throws {
        #expect(await register("user@example.com").status == .created)
        let stranger = await api.call(
            .post, "/register",
            json: #"{"email":"user@example.com","password":"guess","password_hash_url":"\#(url)"}"#)
        #expect(
            try stranger.json.text("error") == "Password does not match the remote Argon2 hash.")
        let owner = await register("user@example.com")
        #expect(try owner.json.text("error") == "Email has already been taken.")
    }

    @Test func aFailedFetchIsAnsweredNotBeforeItsFloor() async throws {
        try await expectWait(of: .seconds(1)) {
            await api.call(
                .post, "/register",
                json:
                    #"{"email":"a@b.test","password":"x","password_hash_url":"https://gone.test/"}"#
            )
        }
    }

    @Test func everyFailedLoginIsAnsweredAtTheFloorWhateverItsCause() async throws {
        _ = try await token()
        let causes = [
            (#"{"email":"user@example.com","password":"wrong"}"#),
            (#"{"email":"nobody@example.com","password":"test123"}"#),
            (#"{"email":"nonsense","password":"test123"}"#),
            (#"{"email":"user@example.com"}"#), "{}",
        ]
        for json in causes {
            let response = try await expectWait(of: .seconds(3)) {
                await api.call(.post, "/login", json: json)
            }
            try expectFailed(response)
        }
        let logout = try await expectWait(of: .seconds(3)) {
            await api.call(.post, "/logout", json: causes[0])
        }
        #expect(logout.status == .unauthorized)
    }

    @Test func whatIsNotDoneByTheFloorFails() async throws {
        _ = try await token()
        api.world.stopwatch.exceedDeadlines()
        try expectFailed(await login("user@example.com"))
    }

    @Test(arguments: ["{", "[]", #"{"email":1}"#, #"{"email":"a","email":"b"}"#])
    func anUnreadableBodyIsReported(json: String) async throws {
        for path in ["/register", "/login", "/validate", "/logout"] {
            let response = await api.call(.post, path, json: json)
            #expect(response.status == .badRequest)
            #expect(try response.json.text("error") == "The request body could not be read.")
        }
    }

    @Test func theExampleIsAnArgon2idHashOfItsPassword() async throws {
        let response = await api.call(.get, "/example.txt")
        #expect(response.header("Content-Type") == "text/plain; charset=utf-8")
        let text = String(decoding: response.body, as: UTF8.self)
        api.world.host.serve(text, at: url)
        #expect(await register("user@example.com").status == .created)
    }

    @Test func anEmailUnderADomainWithMailboxesHereCannotLogIn() async throws {
        let token = try await token()
        try await host(.verified, owner: nil)
        try expectFailed(await login("user@example.com"))
        #expect(await validate(token).status == .unauthorized)
        let new = await register("other@example.com")
        #expect(try new.json.text("error") == "Email is invalid.")
    }

    /// Any Pro user may add any domain, but mailboxes are created only on a verified one.
    @Test(arguments: [HostedDomain.Verification.pending, .failed, .verified])
    func aDomainOfAUserExcludesHashLoginsOnceItIsVerified(
        verification: HostedDomain.Verification
    ) async throws {
        _ = try await token()
        try await host(verification, owner: api.world.addUser("pro@elsewhere.test").id)
        let isExcluded = verification == .verified
        #expect((await login("user@example.com").status == .ok) == !isExcluded)
        #expect((await register("other@example.com").status == .created) == !isExcluded)
    }

    private func host(_ verification: HostedDomain.Verification, owner: UserID?) async throws {
        let name = try #require(Domain(parsing: "example.com"))
        let domain = HostedDomain(
            id: DomainID(random: [UInt8](repeating: 1, count: 16)), name: name, owner: owner,
            verification: verification, verifyToken: "", created: api.world.clock.now)
        _ = try await api.world.stores.domains.insert(
            domain, limit: nil,
            recording: AuditEvent(
                .domainAdded, time: api.world.clock.now, actor: .operator, subject: "example.com"))
    }

    private static func hash(of password: String) throws -> String {
        try Argon2Hash(
            password: Array(password.utf8),
            cost: .init(memoryKiB: 8, iterations: 1, parallelism: 1),
            salt: Array("saltsaltsalt".utf8)
        ).encoded + "\r\n"
    }

    private func register(_ email: String) async -> Response {
        await api.call(
            .post, "/register",
            json: #"{"email":"\#(email)","password":"test123","password_hash_url":"\#(url)"}"#)
    }

    private func login(_ email: String, _ password: String = "test123") async -> Response {
        await api.call(
            .post, "/login", json: #"{"email":"\#(email)","password":"\#(password)"}"#)
    }

    private func validate(_ token: String) async -> Response {
        await api.call(.post, "/validate", json: #"{"token":"\#(token)"}"#)
    }

    private func token() async throws -> String {
        #expect(await register("user@example.com").status == .created)
        return try #require(try await login("user@example.com").json.text("token"))
    }

    /// Expects that the response waited until `floor` after the arrival of its request.
    @discardableResult
    private func expectWait(
        of floor: Duration, sourceLocation: SourceLocation = #_sourceLocation,
        _ call: () async -> Response
    ) async throws -> Response {
        let count = api.world.stopwatch.waits.count
        let arrival = api.world.clock.monotonic
        let response = await call()
        let waits = api.world.stopwatch.waits.dropFirst(count)
        let wait = try #require(waits.first, sourceLocation: sourceLocation)
        #expect(waits.count == 1, sourceLocation: sourceLocation)
        #expect(wait == arrival + floor, sourceLocation: sourceLocation)
        return response
    }

    private func expectFailed(_ response: Response) throws {
        #expect(response.status == .unprocessableContent)
        #expect(try response.json.text("error") == "Invalid email or password.")
    }
}
