import HTTPEngine
import Testing

@testable import postern

@Suite struct ServerConfigurationTests {
    @Test func theDefaultsAreTheEnginesOwn() {
        let ours = Mirror(reflecting: ServerConfiguration(Config().server)).children
        let engines = Mirror(reflecting: ServerConfiguration()).children
        for (one, other) in zip(ours, engines) {
            #expect("\(one)" == "\(other)")
        }
    }

    @Test func everySettingReachesTheEngine() {
        var settings = Config.Server()
        settings.host = "::1"
        settings.port = 1
        settings.loops = 2
        settings.backlog = 3
        settings.maxConnections = 4
        settings.maxConnectionsPerClient = 5
        settings.bodyLimit = 6
        settings.requestLineLimit = 7
        settings.headLimit = 8
        settings.headerCountLimit = 9
        settings.chunkExtensionLimit = 10
        settings.trailerLimit = 11
        settings.pipelineCountLimit = 12
        settings.pipelineLimit = 13
        settings.outboxLimit = 14
        settings.bufferLimit = 21
        settings.headTimeout = .seconds(15)
        settings.bodyTimeout = .seconds(16)
        settings.idleTimeout = .seconds(17)
        settings.writeTimeout = .seconds(18)
        settings.lingerTimeout = .seconds(19)
        settings.drainTimeout = .seconds(20)
        settings.trustedProxies = AddressBlock("192.0.2.0/24").map { [$0] } ?? []
        settings.forwardedHeader = .forwarded
        settings.proxyProtocol = .required
        let engine = Mirror(reflecting: ServerConfiguration(settings)).children
        let defaults = Mirror(reflecting: ServerConfiguration()).children
        let unset = zip(engine, defaults).filter { "\($0)" == "\($1)" }.compactMap(\.0.label)
        #expect(unset == ["retryAfter"])
        let router = Router(groups: []) { error, _ in Response(status: error.status) }
        let listener = Listener(settings, router: router)
        #expect(listener.address == .tcp(host: "::1", port: 1))
        #expect(listener.proxies.addresses == settings.trustedProxies)
        #expect(listener.proxies.forwardedHeader == .forwarded)
        #expect(listener.proxies.proxyProtocol == .required)
    }
}
