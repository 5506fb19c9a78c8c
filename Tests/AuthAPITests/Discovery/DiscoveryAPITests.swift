import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

struct DiscoveryAPITests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test func thePublishedKeyVerifiesACapability() async throws {
        let response = await api.call(.get, "/.well-known/jwks.json")
        #expect(response.status == .ok)
        #expect(response.header("Content-Type") == "application/jwk-set+json")
        #expect(response.header("Cache-Control") == "public, max-age=300")
        let keys = try #require(try response.json.list("keys"))
        guard case .object(let key)? = keys.first else {
            Issue.record("no key")
            return
        }
        #expect(key.names == ["kty", "use", "alg", "kid", "n", "e"])
        #expect(key.text("kty") == "RSA" && key.text("use") == "sig" && key.text("alg") == "RS256")
        let session = try await api.signUp("myagent").session
        let capability = try await api.call(.post, "/api/v1/capability", bearer: session).bearer
        let parts = capability.split(separator: ".").map(String.init)
        let modulus = try #require(key.text("n"))
        let exponent = try #require(key.text("e"))
        let rsa = try PublicKey(
            modulus: try #require(Base64URL.decode(modulus.utf8)),
            exponent: try #require(Base64URL.decode(exponent.utf8)))
        let signature = try #require(Base64URL.decode(parts[2].utf8))
        #expect(rsa.isValid(signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test(arguments: [
        (SignatureAlgorithm.es256, "EC", "P-256", ["crv", "x", "y"]),
        (.edDSA, "OKP", "Ed25519", ["crv", "x"]),
    ])
    func aKeyOnAnEllipticCurveIsPublishedByItsCoordinates(
        algorithm: SignatureAlgorithm, type: String, curve: String, names: [String]
    ) async throws {
        let api = try APIWorld(AgentWorld(capabilityAlgorithm: algorithm))
        let response = await api.call(.get, "/.well-known/jwks.json")
        guard case .object(let key)? = try response.json.list("keys")?.first else {
            Issue.record("no key")
            return
        }
        #expect(key.names == ["kty", "use", "alg", "kid"] + names)
        #expect(key.text("kty") == type && key.text("crv") == curve)
        #expect(key.text("alg") == algorithm.rawValue && key.text("use") == "sig")
        let published = try #require(
            try await api.world.keys.published(.capability, at: api.world.clock.now).first)
        let coordinates = try ["x", "y"].compactMap { key.text($0) }.map { text in
            try #require(Base64URL.decode(text.utf8))
        }
        switch published.parameters {
        case .p256(let x, let y): #expect(coordinates == [x, y])
        case .ed25519(let x): #expect(coordinates == [x])
        case .rsa: Issue.record("an RSA key")
        }
        let login = await api.call(.get, "/.well-known/login-jwks.json")
        guard case .object(let loginKey)? = try login.json.list("keys")?.first else {
            Issue.record("no login key")
            return
        }
        #expect(loginKey.text("alg") == "RS256")
    }

    @Test func aRetiredKeyStaysPublishedWhileItsTokensAreValid() async throws {
        let before = try await kids()
        let new = try await api.world.keys.rotate(.capability, grace: .seconds(600)).id
        #expect(try await kids() == [new] + before)
        api.world.clock.advance(by: KeyUse.capability.publicationLead + .seconds(601))
        #expect(try await kids() == [new])
    }

    @Test func noHMACKeyIsPublished() async throws {
        #expect(try await api.world.keys.published(.agent, at: api.world.clock.now).isEmpty)
    }

    @Test func everyAnchorOfAnErrorIsAHeadingOfLLMsText() async throws {
        let text = String(
            decoding: await api.call(.get, "/llms.txt").body, as: UTF8.self)
        let slugs = Set(
            text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
                line.drop { $0 == "#" || $0 == " " }.lowercased()
                    .replacing(" ", with: "-")
            })
        for anchor in DocsSection.allCases {
            #expect(slugs.contains(anchor.rawValue), "#\(anchor.rawValue)")
        }
    }

    @Test func llmsTextHasTheValuesOfThisServer() async throws {
        let response = await api.call(.get, "/llms.txt")
        #expect(response.header("Content-Type") == "text/plain; charset=utf-8")
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(!text.contains("{{") && !text.contains("}}"))
        #expect(text.contains(AgentWorld.salt))
        #expect(text.contains("\(AgentWorld.issuer)/api/v1/challenge"))
        #expect(text.contains("@mail.test"))
    }

    @Test func openAPIHasEveryRouteAndNoOther() async throws {
        let api = try MailWorld().api
        let response = await api.call(.get, "/openapi.json")
        let document = try response.json
        #expect(document.text("openapi")?.hasPrefix("3.1") == true)
        let paths = try #require(document.object("paths"))
        var documented: Set<String> = []
        for path in paths.members {
            guard case .object(let operations) = path.value else { continue }
            for method in operations.names {
                documented.insert("\(method.uppercased()) \(path.name)")
            }
        }
        // Pages with their scripts are for people.
        let pages = Set(api.web.routes.routes.map(\.template))
        let served = Set(
            (api.groups + [api.services.routes]).flatMap(\.routes)
                .filter { !pages.contains($0.template) }
                // OpenAPI has no operation for every method.
                .map { "\($0.method == .any ? .get : $0.method) \($0.template)" })
        #expect(documented == served)
    }

    @Test func llmsTextHasTheConfiguredLifetimes() async throws {
        let world = try AgentWorld { settings in
            settings.challengeLifetime = .seconds(77)
            settings.sessionLifetime = .seconds(1234)
            settings.capabilityLifetime = .seconds(99)
        }
        let api = try APIWorld(world)
        let text = String(decoding: await api.call(.get, "/llms.txt").body, as: UTF8.self)
        #expect(text.contains("A challenge is valid for 77 seconds"))
        #expect(text.contains("The session JWT is valid for 1234 seconds"))
        #expect(text.contains("The capability JWT is valid for 99 seconds"))
    }

    @Test(arguments: ["/.well-known/jwks.json", "/.well-known/login-jwks.json"])
    func aBusyStoreOfKeysIsBusyAndABrokenOneAnInternalError(path: String) async throws {
        var stores = try AgentWorld().stores
        let keys = FailingKeys(stores.signingKeys, StoreBusy())
        stores.signingKeys = keys
        let api = try APIWorld(AgentWorld(stores: stores))
        let busy = await api.call(.get, path)
        #expect(busy.status == .serviceUnavailable)
        #expect(busy.header("Retry-After") == "1")
        #expect(try busy.agentError.message == "The server is busy")
        keys.error = BrokenStore()
        let broken = await api.call(.get, path)
        #expect(broken.status == .internalServerError)
        #expect(try broken.agentError.message == "Internal error")
        keys.error = nil
        #expect(await api.call(.get, path).status == .ok)
    }

    private func kids() async throws -> [String] {
        let keys = try #require(
            try await api.call(.get, "/.well-known/jwks.json").json.list("keys"))
        return keys.compactMap { key in
            guard case .object(let key) = key else { return nil }
            return key.text("kid")
        }
    }
}
