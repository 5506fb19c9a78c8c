import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// The errors of the accounts API, and the documented order of checks.
struct AccountsErrorsTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test(arguments: ["/api/accounts/%00", "/api/accounts/{", "/api/%ff", "/%61pi/accounts/%zz"])
    func aMalformedTargetHasTheShapeOfTheAPI(target: String) async throws {
        try expectError(await api.call(.get, target), 400, "invalid_request")
    }

    @Test func aCreationIsCheckedInTheDocumentedOrder() async throws {
        _ = try await api.account("taken@mail.test")
        let hex = String(repeating: "0", count: 64)
        // Each body is wrong in this step and in every later one.
        let steps: [(json: String, bearer: String?, status: Int, code: String)] = [
            ("{", "invalid", 400, "invalid_request"),
            (#"{"address":1,"password":"x"}"#, "invalid", 400, "invalid_request"),
            (#"{"address":"nonsense"}"#, "invalid", 400, "invalid_request"),
            (#"{"address":"nonsense","auth_key":"zz"}"#, "invalid", 400, "invalid_request"),
            (
                #"{"address":"nonsense","auth_key":"\#(hex)00"}"#, "invalid", 400,
                "invalid_request"
            ),
            (
                #"{"address":"nonsense","auth_key":"\#(hex.dropLast(2))"}"#, "invalid", 400,
                "invalid_request"
            ),
            (#"{"address":"nonsense","password":"x","pow":7}"#, "invalid", 400, "invalid_request"),
            (#"{"address":"nonsense","password":"x"}"#, "invalid", 401, "invalid_or_expired_token"),
            (#"{"address":"nonsense","password":"x"}"#, nil, 400, "invalid_address"),
            (#"{"address":"a@localhost","password":"x"}"#, nil, 400, "invalid_address"),
            (#"{"address":"a+b@foreign.test","password":"x"}"#, nil, 400, "invalid_address"),
            (#"{"address":"a@foreign.test","password":"x"}"#, nil, 400, "invalid_domain"),
            (#"{"address":"a+b@mail.test","password":"x"}"#, nil, 400, "invalid_address"),
            (#"{"address":"taken@mail.test","password":"x"}"#, nil, 400, "password_too_short"),
            (
                #"{"address":"taken@mail.test","auth_key":"\#(hex)"}"#, nil, 400,
                "proof of work required"
            ),
            (
                #"{"address":"taken@mail.test","auth_key":"\#(hex)","pow":{"id":"x","nonce":"y"}}"#,
                nil, 403, "challenge not found or expired"
            ),
        ]
        for step in steps {
            let response = await api.call(
                .post, "/api/accounts", bearer: step.bearer, json: step.json)
            #expect(response.status.code == step.status, "\(step.json)")
            #expect(try response.code == step.code, "\(step.json)")
        }
    }

    @Test func theProofIsCheckedBeforeTheAddress() async throws {
        _ = try await api.account("taken@mail.test")
        let id = try #require(try await api.call(.get, "/api/challenge").json.text("id"))
        // An empty text is not a nonce and solves nothing.
        let response = await api.call(
            .post, "/api/accounts",
            json:
                #"{"address":"taken@mail.test","password":"supersecret","pow":{"id":"\#(id)","nonce":""}}"#
        )
        try expectError(response, 403, "invalid proof of work")
    }

    @Test func aChallengeCanBeUsedOnce() async throws {
        let work = try await api.pow()
        func body(_ name: String) -> String {
            #"{"address":"\#(name)@mail.test","password":"supersecret","pow":\#(work)}"#
        }
        #expect(await api.call(.post, "/api/accounts", json: body("one")).status == .created)
        try expectError(
            await api.call(.post, "/api/accounts", json: body("two")), 403,
            "challenge not found or expired")
    }

    @Test(arguments: ["", "\\u0000", "\\u00e9", String(repeating: "1", count: 129)])
    func aTextThatIsNotANonceSpendsTheChallenge(nonce: String) async throws {
        let id = try #require(try await api.call(.get, "/api/challenge").json.text("id"))
        for code in ["invalid proof of work", "challenge not found or expired"] {
            let response = await api.call(
                .post, "/api/accounts",
                json:
                    #"{"address":"a@mail.test","password":"supersecret","pow":{"id":"\#(id)","nonce":"\#(nonce)"}}"#
            )
            try expectError(response, 403, code)
        }
    }

    @Test func anExpiredChallengeIsNotFound() async throws {
        let work = try await api.pow()
        api.world.clock.advance(by: .seconds(300))
        let response = await api.call(
            .post, "/api/accounts",
            json: #"{"address":"demo@mail.test","password":"supersecret","pow":\#(work)}"#)
        try expectError(response, 403, "challenge not found or expired")
    }

    @Test func aChallengeOfTheAgentAPIIsNotFound() async throws {
        let agents = try await api.call(.post, "/api/v1/challenge").bearer
        let response = await api.call(
            .post, "/api/accounts",
            json:
                #"{"address":"demo@mail.test","password":"supersecret","pow":{"id":"\#(agents)","nonce":"0"}}"#
        )
        try expectError(response, 403, "challenge not found or expired")
    }

    @Test func reservedNamesAreTaken() async throws {
        for name in ["postmaster", "ADMIN", "mailer-daemon"] {
            try expectError(try await api.create("\(name)@mail.test"), 409, "address_taken")
        }
    }

    @Test(arguments: [
        "demo@mail.test\\u000d\\u000aX: y", "d\\u00e9mo@mail.test", "demo@mail\\u3002test",
        "demo\\u0000@mail.test", "demo @mail.test", "@mail.test", "demo@", "", "demo@@mail.test",
    ])
    func malformedAddressesAreInvalid(address: String) async throws {
        try expectError(try await api.create(address), 400, "invalid_address")
    }

    @Test func aWrongAddressAndAWrongPasswordHaveTheSameResponse() async throws {
        _ = try await api.account("demo@mail.test")
        let wrongPassword = await api.login("demo@mail.test", password: "wrongwrong")
        let wrongAddress = await api.login("nobody@mail.test", password: "wrongwrong")
        let noAddress = await api.login("nonsense", password: "wrongwrong")
        for response in [wrongPassword, wrongAddress, noAddress] {
            try expectError(response, 401, "invalid_credentials")
            #expect(response.body == wrongPassword.body)
        }
    }

    @Test func everyErrorUnderThePrefixHasTheShapeOfTheAPI() async throws {
        try expectError(await api.call(.get, "/api/nothing"), 404, "not_found")
        try expectError(await api.call(.put, "/api/token"), 405, "method_not_allowed")
        let type = await api.call(
            .post, "/api/token", headers: [("Content-Type", "text/plain")])
        try expectError(type, 415, "unsupported_media_type")
        let large = await api.call(
            .post, "/api/token", json: String(repeating: " ", count: 65_537))
        try expectError(large, 413, "payload_too_large")
        #expect(await api.call(.get, "/api/v1/nothing").status == .notFound)
        #expect(try await api.call(.get, "/api/v1/nothing").json.object("error") != nil)
    }

    @Test func aFullPoolIsBusyAndSpendsNoChallenge() async throws {
        let held = HeldPool(isFull: true)
        let busy = try APIWorld(AgentWorld(hashing: held.pool))
        let work = try await busy.pow()
        let json = #"{"address":"demo@mail.test","password":"supersecret","pow":\#(work)}"#
        for _ in 0..<2 {
            let response = await busy.call(.post, "/api/accounts", json: json)
            try expectError(response, 503, "server_busy")
            #expect(response.header("Retry-After") == "1")
        }
        held.empty()
        #expect(await busy.call(.post, "/api/accounts", json: json).status == .created)
    }

    @Test func idsThatContainPathsOrAreVeryLongAreRejected() async throws {
        let (_, token) = try await api.account("demo@mail.test")
        let pro = try await api.pro()
        for id in [
            "..%2f..%2fetc", "%00", "a%2Fb", String(repeating: "x", count: 3000), "*", "' OR 1=1",
        ] {
            let path = "/api/accounts/" + id.replacing(" ", with: "%20")
            let free = await api.call(.get, path, bearer: token)
            #expect([400, 403].contains(free.status.code), "\(id.prefix(20))")
            let owner = await api.call(.get, path, bearer: pro)
            #expect([400, 404].contains(owner.status.code), "\(id.prefix(20))")
        }
    }

    @Test func everyErrorOfTheEngineHasTheShapeOfTheAPI() throws {
        let errors: [HTTPError] = [
            .malformed(.badChunk), .notFound, .methodNotAllowed(allowed: [.get]),
            .bodyTooLarge(limit: 10), .timeout, .overloaded(retryAfter: 3), .internalError,
        ]
        let codes = [
            "invalid_request", "not_found", "method_not_allowed", "payload_too_large",
            "invalid_request", "server_busy", "internal_error",
        ]
        let context = ErrorContext(id: RequestID(prefix: 1, number: 1))
        for (error, code) in zip(errors, codes) {
            let response = AccountsErrors().renderer(error, context)
            #expect(response.status == error.status)
            #expect(try response.code == code)
        }
    }

    @Test func aBrokenStoreIsAnInternalErrorWithoutDetail() async throws {
        let world = try AgentWorld()
        let accounts = FailingAccounts(world.stores.accounts, BrokenStore())
        let broken = try APIWorld(AgentWorld(stores: world.stores, accounts: accounts))
        let response = await broken.login("demo@mail.test")
        try expectError(response, 500, "internal_error")
        #expect(!String(decoding: response.body, as: UTF8.self).contains("disk"))
        accounts.error = StoreBusy()
        let busy = await broken.login("demo@mail.test")
        try expectError(busy, 503, "server_busy")
        #expect(busy.header("Retry-After") == "1")
    }
}
