import AuthAPI
import Cryptography
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

/// The secret that services send where the operator has set one.
struct ServicesAccessTests {
    private static let secret = "a-secret-of-services"
    private let services: ServicesWorld
    private let own = ("X-Services-Secret", secret)

    init() async throws {
        services = try await ServicesWorld(
            settings: .init(secret: SecretBytes(Array(Self.secret.utf8))))
    }

    private func introspect(
        _ headers: [(String, String)], _ form: String = ""
    ) async -> Response {
        await services.call(
            .post, "/introspect", headers, form: "token=\(services.emailToken)&\(form)")
    }

    @Test func theSecretIsTakenInEveryDocumentedWay() async throws {
        for headers in [
            [own], [("x-services-secret", Self.secret)],
            [("Authorization", "Bearer \(Self.secret)")],
            [ServicesWorld.basic("anybody", Self.secret)], [ServicesWorld.basic("", Self.secret)],
        ] {
            let response = await introspect(headers)
            #expect(try response.json["active"] == .bool(true))
        }
        let field = await introspect([], "client_id=x&client_secret=\(Self.secret)")
        #expect(try field.json["active"] == .bool(true))
        let query = await services.call(
            .get, "/introspect?token=\(services.emailToken)", [own])
        #expect(try query.json["active"] == .bool(true))
    }

    @Test func anythingElseIs401() async throws {
        for headers in [
            [], [("X-Services-Secret", "")], [("X-Services-Secret", Self.secret + "x")],
            [("X-Services-Secret", String(Self.secret.dropLast()))],
            [("Authorization", "Bearer x")], [ServicesWorld.basic(Self.secret, "x")],
            [("Authorization", Self.secret)],
        ] {
            let response = await introspect(headers)
            try expectServicesError(
                response, 401, "unauthorized", challenge: "Basic realm=\"services\"")
        }
        let field = await introspect([], "client_secret=x")
        #expect(field.status == .unauthorized)
        // Before the body is looked at.
        let malformed = await services.call(.post, "/introspect", form: "x")
        #expect(malformed.status == .unauthorized)
    }

    /// There `Authorization` is the end user's.
    @Test(arguments: ["/forward-auth", "/nginx-mail-auth", "/userinfo"])
    func besideAnEndUsersCredentialOnlyTheHeaderCounts(path: String) async throws {
        let user = ("Authorization", "Bearer \(services.emailToken)")
        for headers in [
            [user], [("Authorization", "Bearer \(Self.secret)")],
            [ServicesWorld.basic("x", Self.secret)], [user, ("X-Services-Secret", "wrong")],
        ] {
            let response = await services.call(.get, path, headers)
            try expectServicesError(
                response, 401, "unauthorized", challenge: "Basic realm=\"services\"")
        }
        #expect(await services.call(.get, path, [user, own]).status == .ok)
    }

    @Test(arguments: [
        ("Origin", "https://elsewhere.example"), ("Origin", "null"),
        ("Origin", "http://localhost"), ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-origin"),
    ])
    func noPageInABrowserCanAsk(field: (String, String)) async throws {
        for (method, path) in [
            (Method.post, "/introspect"), (.get, "/introspect"), (.post, "/check-password"),
            (.post, "/usage"), (.post, "/delivered"), (.put, "/delivered/dovecot"),
            (.get, "/metrics"),
        ] {
            let response = await services.call(method, path, [own, field])
            try expectServicesError(response, 403, "forbidden")
        }
        // A proxy passes on what the browser of the end user has sent.
        let user = ("Authorization", "Bearer \(services.emailToken)")
        let asked = await services.call(.get, "/forward-auth", [own, user, field])
        #expect(asked.status == .ok)
        // A person who reads the metrics.
        let entered = await services.call(.get, "/metrics", [own, ("Sec-Fetch-Site", "none")])
        #expect(entered.status == .ok)
    }

    @Test func everyEndpointNeedsIt() async throws {
        for (method, path) in [
            (Method.post, "/introspect"), (.get, "/introspect"), (.post, "/check-password"),
            (.post, "/usage"), (.get, "/forward-auth"), (.get, "/nginx-mail-auth"),
            (.get, "/userinfo"),
        ] {
            #expect(await services.call(method, path).status == .unauthorized, "\(path)")
        }
        // The public one is for everybody.
        let response = await services.api.call(.get, "/userinfo", bearer: services.emailToken)
        #expect(response.status == .ok)
    }
}
