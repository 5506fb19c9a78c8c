import AuthAPI
import Cryptography
import HTTPEngine
import TestSupport
import Testing

struct MetricsEndpointTests {
    @Test func metricsAreTextOfTheFormat004() async throws {
        let services = try await ServicesWorld()
        services.api.metrics.add { $0.gauge("answer", "The answer.", 42) }
        let response = await services.call(.get, "/metrics")
        #expect(response.status == .ok)
        #expect(response.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response.header("Cache-Control") == "no-store")
        #expect(
            response.body
                == Array(
                    """
                    # HELP answer The answer.
                    # TYPE answer gauge
                    answer 42

                    """.utf8))
    }

    @Test func theSecretOfServicesIsNeededWhereThereIsOne() async throws {
        let secret = "a-secret-of-services"
        let services = try await ServicesWorld(
            settings: .init(secret: SecretBytes(Array(secret.utf8))))
        let refused = await services.call(.get, "/metrics")
        try expectServicesError(
            refused, 401, "unauthorized", challenge: "Basic realm=\"services\"")
        let allowed = await services.call(
            .get, "/metrics", [ServicesWorld.basic("prometheus", secret)])
        #expect(allowed.status == .ok)
    }

    @Test func thePublicListenerHasNone() async throws {
        let services = try await ServicesWorld()
        #expect(await services.api.call(.get, "/metrics").status == .notFound)
    }
}
