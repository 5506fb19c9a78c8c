import AuthCore
import AuthStorage
import Cryptography
import HTTPEngine
import Networking
import Scheduling
import StrictJSON
import TestPrimitives
import Testing

@testable import AuthAPI
@testable import Configuration
@testable import postern

@Suite struct ApplicationTests {
    private let url = "http://auth.test"

    private func secret(_ byte: UInt8 = 1) -> SecretBytes {
        SecretBytes([UInt8](repeating: byte, count: MasterSecret.byteCount))
    }

    private func answer(
        _ application: Application, _ method: Method, _ path: String
    ) async throws -> (status: Int, body: JSONObject?) {
        let response = await application.router.respond(to: Request(method: method, target: path))
        return (response.status.code, (try? JSONValue.parse(response.body))?.object)
    }

    /// Asks until the answer is yes: on a busy machine the database may take longer than the
    /// readiness check waits.
    private func isReady(_ application: Application) async throws -> Bool {
        for _ in 0..<100 where try await answer(application, .get, "/readyz").status == 200 {
            return true
        }
        return false
    }

    @Test func everyAPIHasItsRoutes() async throws {
        let application = try await Application.open(
            Config(profile: .test), publicURL: url, secret: secret(), isDraining: { false })
        for path in ["/healthz", "/llms.txt", "/openapi.json"] {
            #expect(try await answer(application, .get, path).status == 200, "\(path)")
        }
        #expect(try await isReady(application))
        let challenge = try await answer(application, .post, "/api/v1/challenge")
        #expect(challenge.status == 200)
        // The difficulty of the test profile.
        #expect(challenge.body?["difficulty"] == .integer(1))
        #expect(try await answer(application, .get, "/nowhere").status == 404)
        await application.close()
    }

    @Test func aClientHoldsAQuarterOfEachPoolAtMost() throws {
        let client = IPAddress(v4: 0xc000_0201)
        let pools = Pools(cores: 2)
        for (pool, depth) in [(pools.hashing, 128), (pools.signing, 2048)] {
            let places = try Places(of: client, in: pool)
            #expect(places.count <= depth / 4 && places.count > depth / 8)
            #expect(!pool.isFull(for: IPAddress(v4: 0xc633_6401)))
        }
    }

    @Test func whileDrainingItIsHealthyAndNotReady() async throws {
        let draining = AtomicFlag()
        let application = try await Application.open(
            Config(profile: .test), publicURL: url, secret: secret(),
            isDraining: { draining.isSet })
        #expect(try await isReady(application))
        draining.set()
        #expect(try await answer(application, .get, "/readyz").status == 503)
        #expect(try await answer(application, .get, "/healthz").status == 200)
        await application.close()
    }

    @Test func otherSettingsMakeAnotherApplicationOnTheSameStores() async throws {
        var config = Config(profile: .test)
        let application = try await Application.open(
            config, publicURL: url, secret: secret(), isDraining: { false })
        config.mail.domains = ["other.test"].compactMap { Domain(parsing: $0) }
        let next = try await application.applying(config)
        for (application, domain) in [(application, "mail.test"), (next, "other.test")] {
            let body = try await answer(application, .get, "/api/domains").body
            let domains = body?["domains"]?.array?.compactMap { $0.object?["domain"]?.string }
            #expect(domains == [domain])
        }
        await application.close()
    }

    @Test func otherSettingsKeepTheCountsOfMailAndItsPools() async throws {
        var config = Config(profile: .test)
        let application = try await Application.open(
            config, publicURL: url, secret: secret(), isDraining: { false })
        let limit = MailWork.waitsPerClient
        let client = IPAddress.loopback.client
        let held = (0..<limit).compactMap { _ in application.mail.work.waits.place(at: client) }
        config.mail.domains = ["other.test"].compactMap { Domain(parsing: $0) }
        let next = try await application.applying(config)
        #expect(held.count == limit && next.mail.work.waits.place(at: client) == nil)
        #expect(next.mail.work.pool === application.mail.work.pool)
        #expect(next.mail.work.requests === application.mail.work.requests)
        #expect(next.mail.work.uploads === application.mail.work.uploads)
        let pools = try [application, next].map { try #require($0.smtp).pool }
        #expect(pools[0] === pools[1])
        withExtendedLifetime(held) {}
        await application.close()
    }

    @Test func settingsThatStopAStartStopAReload() async throws {
        var config = Config(profile: .test)
        let application = try await Application.open(
            config, publicURL: url, secret: secret(), isDraining: { false })
        config.services.listen = .unix(path: "/s")
        config.services.secretFile = "/nowhere"
        await #expect(throws: ServicesListenerError.self) { try await application.applying(config) }
        await application.close()
    }

    @Test func withoutItsDatabaseItIsNotReady() async throws {
        let application = try await Application.open(
            Config(profile: .test), publicURL: url, secret: secret(), isDraining: { false })
        await application.close()
        #expect(try await answer(application, .get, "/readyz").status == 503)
    }

    @Test func anotherMasterSecretStopsTheStart() async throws {
        let scratch = Scratch()
        var config = Config()
        config.storage.directory = scratch.path
        let application = try await Application.open(
            config, publicURL: url, secret: secret(1), isDraining: { false })
        // The response is signed, so the key has been created and stored.
        #expect(try await answer(application, .post, "/api/v1/challenge").status == 200)
        await application.close()
        do {
            _ = try await Application.open(
                config, publicURL: url, secret: secret(2), isDraining: { false })
            Issue.record("started with a master secret that fits no key")
        } catch {
            #expect(error is UnreadableKey)
            #expect(Exit.code(for: error) == Exit.misconfigured)
        }
    }
}

/// Every place of a pool that is free for one client.
private final class Places {
    private final class Held {
        let place: WorkerPool.Place

        init(_ place: consuming WorkerPool.Place) {
            self.place = place
        }
    }

    private var held: [Held] = []

    init(of client: IPAddress, in pool: WorkerPool) throws {
        while !pool.isFull(for: client) { held.append(Held(try pool.reserve(for: client))) }
    }

    var count: Int { held.count }
}
