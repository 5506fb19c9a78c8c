import AuthCore
import AuthStorage
import Cryptography
import HTTPEngine
import StrictJSON
import Testing

@testable import postern

@Suite struct HouseTests {
    private let url = "http://auth.test"

    private func secret(_ byte: UInt8 = 1) -> SecretBytes {
        SecretBytes([UInt8](repeating: byte, count: MasterSecret.octets))
    }

    private func answer(
        _ house: House, _ method: Method, _ path: String
    ) async throws -> (status: Int, body: JSONObject?) {
        let response = await house.router.respond(to: Request(method: method, target: path))
        return (response.status.code, (try? JSONValue.parse(response.body))?.object)
    }

    @Test func everySurfaceIsMounted() async throws {
        let house = try await House.open(
            Config(profile: .test), publicURL: url, secret: secret(), isDraining: { false })
        for path in ["/healthz", "/readyz", "/llms.txt", "/openapi.json"] {
            #expect(try await answer(house, .get, path).status == 200, "\(path)")
        }
        let challenge = try await answer(house, .post, "/api/v1/challenge")
        #expect(challenge.status == 200)
        // The test profile's.
        #expect(challenge.body?["difficulty"] == .integer(1))
        #expect(try await answer(house, .get, "/nowhere").status == 404)
        await house.close()
    }

    @Test func whileDrainingItIsNotReadyButLives() async throws {
        let draining = Latch()
        let house = try await House.open(
            Config(profile: .test), publicURL: url, secret: secret(),
            isDraining: { draining.isClosed })
        // The database has a second to answer, which it may miss while other tests compute.
        var ready = false
        for _ in 0..<30 where !ready {
            ready = try await answer(house, .get, "/readyz").status == 200
        }
        #expect(ready)
        draining.close()
        #expect(try await answer(house, .get, "/readyz").status == 503)
        #expect(try await answer(house, .get, "/healthz").status == 200)
        await house.close()
    }

    @Test func withoutItsDatabaseItIsNotReady() async throws {
        let house = try await House.open(
            Config(profile: .test), publicURL: url, secret: secret(), isDraining: { false })
        await house.close()
        #expect(try await answer(house, .get, "/readyz").status == 503)
    }

    @Test func anotherMasterSecretStopsTheStartNotTheFirstRequest() async throws {
        let scratch = Scratch()
        var config = Config()
        config.storage.directory = scratch.path
        let house = try await House.open(
            config, publicURL: url, secret: secret(1), isDraining: { false })
        // Signs, so the key has been made and stored.
        #expect(try await answer(house, .post, "/api/v1/challenge").status == 200)
        await house.close()
        do {
            _ = try await House.open(
                config, publicURL: url, secret: secret(2), isDraining: { false })
            Issue.record("started with a secret that opens no key")
        } catch {
            #expect(error is UnreadableKey)
            #expect(Exit.code(for: error) == Exit.misconfigured)
        }
    }
}
