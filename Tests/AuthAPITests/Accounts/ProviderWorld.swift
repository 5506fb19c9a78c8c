import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI

/// What a browser has after GET /api/user/oauth/{provider}.
struct BegunSignIn {
    let url: String
    /// As the browser sends it.
    let cookie: String
}

/// Tests of sign-ins with the providers of ``AgentWorld``.
protocol ProviderTests {
    var api: APIWorld { get }
}

extension ProviderTests {
    var ada: SoftProvider.Person { SoftProvider.Person("ada-1", "ada@example.com") }

    var provider: SoftProvider { api.world.provider }

    func get(
        _ path: String, cookie: String? = nil, accept: String = "application/json",
        headers: [(String, String)] = []
    ) async -> Response {
        api.world.clock.advance(by: .seconds(9))
        let cookie = cookie.map { [("Cookie", $0)] } ?? []
        return await api.call(
            .get, "/api/user" + path,
            headers: cookie + headers + [("Accept", accept), ("Host", "auth.mail.test")])
    }

    func begin(at name: String = "id") async throws -> BegunSignIn {
        try begun(await get("/oauth/\(name)"))
    }

    func begun(_ response: Response, url: String? = nil) throws -> BegunSignIn {
        let field = try #require(response.header("Set-Cookie"))
        if response.status.code == 303 {
            #expect(response.header("Referrer-Policy") == "no-referrer")
        }
        #expect(
            field.hasSuffix("; Max-Age=600; HttpOnly; Secure; SameSite=Lax; Path=/"))
        #expect(field.hasPrefix("__Host-postern_sign_in="))
        return BegunSignIn(
            url: try url ?? #require(response.header("Location")),
            cookie: String(field.prefix { $0 != ";" }))
    }

    /// What the provider sends the browser to.
    func answer(_ person: SoftProvider.Person, to begun: BegunSignIn) -> String {
        let (code, state) = provider.signIn(person, at: begun.url)
        return "?code=\(code)&state=\(state)"
    }

    func finish(
        _ begun: BegunSignIn, _ query: String, at name: String = "id", cookie: String? = nil,
        accept: String = "application/json"
    ) async -> Response {
        await get(
            "/oauth/\(name)/callback\(query)", cookie: cookie ?? begun.cookie, accept: accept,
            // A page of the provider has sent the browser.
            headers: [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")])
    }

    func signIn(
        _ person: SoftProvider.Person, at name: String = "id"
    ) async throws -> Response {
        let begun = try await begin(at: name)
        return await finish(begun, answer(person, to: begun), at: name)
    }

    /// The Pro JWT of the session cookie.
    func token(_ response: Response) throws -> String {
        #expect(response.status.code == 303)
        #expect(response.header("Location") == "/dashboard")
        let fields = response.headers.filter { $0.0 == "Set-Cookie" }.map(\.1)
        #expect(fields.contains { $0.hasPrefix("__Host-postern_sign_in=; Max-Age=0;") })
        let session = try #require(fields.first { $0.hasPrefix("__Secure-postern_session=") })
        #expect(session.hasSuffix("; HttpOnly; Secure; SameSite=Strict; Path=/api/user"))
        return String(
            session.dropFirst("__Secure-postern_session=".count).prefix { $0 != ";" })
    }

    func begunLink(_ bearer: String, at name: String = "id") async throws -> BegunSignIn {
        let response = await api.send(.post, "/oauth/\(name)/link", bearer: bearer)
        #expect(response.status == .ok)
        return try begun(response, url: try response.json.text("url"))
    }

    func link(
        _ person: SoftProvider.Person, to bearer: String, at name: String = "id"
    ) async throws -> Response {
        let begun = try await begunLink(bearer, at: name)
        return await finish(begun, answer(person, to: begun), at: name)
    }

    func identities(_ bearer: String) async throws -> [JSONObject] {
        let response = await api.send(.get, "/identities", bearer: bearer)
        return try #require(try response.json.list("identities")).compactMap(\.object)
    }

    func kinds() async throws -> [AuditEvent.Kind] {
        try await api.world.stores.audit.events(after: nil, limit: 1000).map(\.event.kind)
    }
}
