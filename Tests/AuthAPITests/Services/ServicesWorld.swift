import AuthAPI
import AuthCore
import Cryptography
import HTTPEngine
import Networking
import TestSupport
import Testing

/// The services listener over a world in memory, with a mailbox and an agent.
struct ServicesWorld {
    static let address = "demo@mail.test"
    static let password = "supersecret"

    let api: APIWorld
    let router: Router
    let accountID: String
    let emailToken: String

    init(_ world: AgentWorld? = nil, settings: ServicesAPI.Settings = .init()) async throws {
        api = try APIWorld(world, servicesSettings: settings)
        router = api.services.router
        (accountID, emailToken) = try await api.account(Self.address)
    }

    func capability() async throws -> String {
        try await api.call(.post, "/api/v1/capability", bearer: emailToken).bearer
    }

    func disable() async throws {
        let address = try #require(Address(parsing: Self.address))
        let found = try await api.world.stores.accounts.account(address: address)
        let account = try #require(found)
        #expect(try await api.world.disable(account.id))
    }

    func call(
        _ method: HTTPEngine.Method, _ target: String, _ headers: [(String, String)] = [],
        form: String? = nil, json: String? = nil, peer: IPAddress = .loopback
    ) async -> Response {
        var headers = headers
        if form != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        if json != nil { headers.append(("Content-Type", "application/json")) }
        return await router.respond(
            to: Request(
                method: method, target: target, headers: headers,
                body: Array((form ?? json ?? "").utf8), peer: peer))
    }

    static func basic(_ user: String, _ password: String) -> (String, String) {
        var text = Base64URL.encode(Array("\(user):\(password)".utf8))
            .replacing("-", with: "+").replacing("_", with: "/")
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        return ("Authorization", "Basic \(text)")
    }
}

/// Expects an error with this status and this code.
func expectServicesError(
    _ response: Response, _ status: Int, _ code: String, challenge: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(response.status.code == status, sourceLocation: sourceLocation)
    let body = try response.json
    #expect(body.names == ["error", "message"], sourceLocation: sourceLocation)
    #expect(body.text("error") == code, sourceLocation: sourceLocation)
    #expect(response.header("WWW-Authenticate") == challenge, sourceLocation: sourceLocation)
}
