import AuthAPI
import AuthCore
import Cryptography
import HTTPEngine
import Networking
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

/// What mail stores ask: `/introspect`, `/check-password`, `/usage` and `/userinfo`.
struct StoreEndpointsTests {
    private let services: ServicesWorld

    init() async throws {
        services = try await ServicesWorld()
    }

    // MARK: /introspect

    @Test func aGoodTokenIsActiveAndDescribed() async throws {
        let token = try await services.capability()
        for response in [
            await services.call(.post, "/introspect", form: "token=\(token)&other=1"),
            await services.call(.post, "/introspect", json: #"{"token":"\#(token)"}"#),
            await services.call(.get, "/introspect?token=\(token)"),
        ] {
            #expect(response.status == .ok)
            #expect(response.header("Cache-Control") == "no-store")
            let body = try response.json
            #expect(
                body.names == [
                    "active", "sub", "username", "email", "scope", "aud", "iss", "exp", "iat",
                    "client_id", "token_type",
                ])
            #expect(body["active"] == .bool(true))
            #expect(body.text("username") == ServicesWorld.address)
            #expect(body.text("email") == ServicesWorld.address)
            #expect(body.text("scope") == "mail" && body.text("token_type") == "Bearer")
            #expect(body.text("aud") == "api-service")
            let now = services.api.world.clock.now.seconds
            #expect(body.number("iat") == now && body.number("exp") == now + 120)
        }
        let email = await services.call(
            .post, "/introspect", form: "token=\(services.emailToken)")
        #expect(try email.json["active"] == .bool(true))
    }

    @Test func aBadTokenIsNotActiveAndNoError() async throws {
        let token = try await services.capability()
        try await services.disable()
        for bad in [token, services.emailToken, "garbage", "a.b.c", "%00"] {
            let response = await services.call(.post, "/introspect", form: "token=\(bad)")
            #expect(response.status == .ok)
            #expect(response.body == Array(#"{"active":false}"#.utf8))
        }
    }

    @Test(arguments: [
        "", "token=", "other=1", "token=a&token=b", "token=%ff", "{\"token\":1}", "{", "[]",
    ])
    func aBodyWithoutOneTokenIsMalformed(body: String) async throws {
        let response = await services.router.respond(
            to: Request(method: .post, target: "/introspect", body: Array(body.utf8)))
        try expectServicesError(response, 400, "invalid_request")
    }

    @Test(arguments: ["/introspect", "/introspect?token=", "/introspect?token=a&token=b"])
    func aQueryWithoutOneTokenIsMalformed(target: String) async throws {
        let response = await services.call(.get, target)
        if target.hasSuffix("=") {
            #expect(try response.json["active"] == .bool(false))
        } else {
            try expectServicesError(response, 400, "invalid_request")
        }
    }

    @Test func anotherMediaTypeMethodOrPathIsAnError() async throws {
        let type = await services.call(.post, "/introspect", [("Content-Type", "text/plain")])
        try expectServicesError(type, 415, "unsupported_media_type")
        let method = await services.call(.delete, "/introspect")
        try expectServicesError(method, 405, "method_not_allowed")
        #expect(method.header("Allow") == "GET, HEAD, OPTIONS, POST")
        // The public APIs are not here, and these are not there.
        for path in ["/api/challenge", "/healthz", "/nowhere"] {
            try expectServicesError(await services.call(.get, path), 404, "not_found")
        }
        for path in [
            "/introspect", "/check-password", "/forward-auth", "/nginx-mail-auth", "/usage",
        ] {
            #expect(await services.api.call(.post, path).status == .notFound)
        }
    }

    // MARK: /check-password

    @Test func aRightPasswordIsAnsweredWithTheMailbox() async throws {
        let form = "user=demo%40mail.test&password=supersecret&client=192.0.2.9&protocol=imap"
        let json = #"{"user":"demo@mail.test","password":"supersecret","client":"2001:db8::1"}"#
        for response in [
            await services.call(.post, "/check-password", form: form),
            await services.call(.post, "/check-password", json: json),
        ] {
            #expect(response.status == .ok)
            let body = try response.json
            #expect(body.names == ["user", "account_id", "quota"])
            #expect(body.text("user") == ServicesWorld.address)
            #expect(body.text("account_id") == services.accountID)
            #expect(body.number("quota") == 41_943_040)
        }
    }

    @Test func anAPIKeyIsAPasswordToo() async throws {
        let (_, account) = try await services.api.signUp("myagent")
        let key = try #require(account.text("apiKey"))
        let response = await services.call(
            .post, "/check-password", form: "user=myagent@mail.test&password=\(key)")
        #expect(response.status == .ok)
    }

    @Test func aWrongPasswordIs401AndADisabledAccount403() async throws {
        for form in [
            "user=demo@mail.test&password=wrong", "user=demo@mail.test&password=",
            "user=nobody@mail.test&password=supersecret", "user=x&password=supersecret",
            "user=demo@mail.test&auth_key=\(String(repeating: "0", count: 64))",
        ] {
            let response = await services.call(.post, "/check-password", form: form)
            try expectServicesError(
                response, 401, "invalid_credentials", challenge: "Basic realm=\"mail\"")
        }
        try await services.disable()
        let right = await services.call(
            .post, "/check-password", form: "user=demo@mail.test&password=supersecret")
        try expectServicesError(right, 403, "disabled")
    }

    @Test func failuresAreThrottledByTheReportedClient() async throws {
        func check(_ password: String, _ client: String) async -> Response {
            await services.call(
                .post, "/check-password",
                form: "user=demo@mail.test&password=\(password)&client=\(client)")
        }
        for _ in 0..<5 { #expect(await check("wrong", "198.51.100.1").status.code == 401) }
        let limited = await check("supersecret", "198.51.100.1")
        try expectServicesError(limited, 429, "rate_limit_exceeded")
        #expect(limited.header("Retry-After") != nil)
        // Mapped, it is the same client.
        #expect(await check("supersecret", "::ffff:198.51.100.1").status.code == 429)
        #expect(await check("supersecret", "203.0.113.1").status.code == 200)
        let throttled = services.api.events.entries.last?.0
        #expect(throttled?.kind == .attemptThrottled)
        #expect(throttled?.client?.description == "198.51.100.1")
    }

    @Test(arguments: [
        "", "user=demo@mail.test", "password=supersecret", "user=a&user=b&password=c",
        "user=demo@mail.test&auth_key=12", "user=demo@mail.test&password=supersecret&client=x",
        "user=demo@mail.test&password=supersecret&client=192.0.2.1:5",
        "user=demo@mail.test&password=\(String(repeating: "x", count: 1025))",
        "user=demo@mail.test&password=%ff",
    ])
    func anythingElseIsMalformed(form: String) async throws {
        let response = await services.call(.post, "/check-password", form: form)
        try expectServicesError(response, 400, "invalid_request")
    }

    @Test func nothingIsMinted() async throws {
        let response = await services.call(
            .post, "/check-password", form: "user=demo@mail.test&password=supersecret")
        #expect(response.header("Authorization") == nil && response.header("Set-Cookie") == nil)
        let kinds = try await services.api.world.events.map(\.kind)
        #expect(kinds.filter { $0 == .loginSucceeded }.count == 1)
        #expect(!kinds.contains(.tokenCreated))
    }

    // MARK: /usage

    @Test func usageIsStoredAndTheUnknownAddressesAreAnswered() async throws {
        let response = await services.call(
            .post, "/usage",
            json: #"[{"address":"Demo@mail.test","used":5},{"address":"x@mail.test","used":1},"#
                + #"{"address":"no address","used":2}]"#)
        #expect(response.status == .ok)
        #expect(
            response.body == Array(#"{"unknown":["no address","x@mail.test"]}"#.utf8))
        let shown = await services.api.call(
            .get, "/api/accounts/\(services.accountID)", bearer: services.emailToken)
        #expect(try shown.json.number("used") == 5)
        let none = await services.call(.post, "/usage", json: "[]")
        #expect(none.body == Array(#"{"unknown":[]}"#.utf8))
    }

    @Test(arguments: [
        "", "{}", "[1]", "[{}]", #"[{"address":"a@b.c"}]"#, #"[{"used":1}]"#,
        #"[{"address":"demo@mail.test","used":-1}]"#,
        #"[{"address":"demo@mail.test","used":1.5}]"#,
        #"[{"address":"demo@mail.test","used":"1"}]"#,
        #"[{"address":"demo@mail.test","used":7},{"address":1,"used":1}]"#,
    ])
    func aReportThatCannotBeReadStoresNothing(json: String) async throws {
        let response = await services.call(.post, "/usage", json: json)
        try expectServicesError(response, 400, "invalid_request")
        let shown = await services.api.call(
            .get, "/api/accounts/\(services.accountID)", bearer: services.emailToken)
        #expect(try shown.json.number("used") == 0)
    }

    // MARK: /userinfo

    @Test func theHolderOfATokenIsDescribedOnBothListeners() async throws {
        for token in [services.emailToken, try await services.capability()] {
            for response in [
                await services.call(.get, "/userinfo", [("Authorization", "Bearer \(token)")]),
                await services.api.call(.get, "/userinfo", bearer: token),
            ] {
                #expect(response.status == .ok)
                let body = try response.json
                #expect(body.names == ["sub", "email", "email_verified", "preferred_username"])
                #expect(body.text("sub") == ServicesWorld.address)
                #expect(body.text("email") == ServicesWorld.address)
                #expect(body["email_verified"] == .bool(true))
            }
        }
    }

    @Test func withoutAValidTokenThereIsNoUserinfo() async throws {
        let none = await services.api.call(.get, "/userinfo")
        try expectServicesError(none, 401, "unauthorized", challenge: "Bearer")
        try await services.disable()
        for token in ["garbage", services.emailToken, try await services.api.pro()] {
            let response = await services.api.call(.get, "/userinfo", bearer: token)
            try expectServicesError(
                response, 401, "invalid_or_expired_token", challenge: "Bearer")
        }
    }
}
