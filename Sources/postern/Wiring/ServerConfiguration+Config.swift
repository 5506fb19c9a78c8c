internal import HTTPEngine

extension ServerConfiguration {
    init(_ settings: Config.Server) {
        self.init()
        backlog = Int32(clamping: settings.backlog)
        loops = settings.loops == 0 ? nil : settings.loops
        maxConnections = settings.maxConnections
        maxConnectionsPerClient = settings.maxConnectionsPerClient
        requestLineBytes = settings.requestLineLimit
        headBytes = settings.headLimit
        headerCount = settings.headerCountLimit
        bodyBytes = settings.bodyLimit
        chunkExtensionBytes = settings.chunkExtensionLimit
        trailerBytes = settings.trailerLimit
        pipelinedRequests = settings.pipelineCountLimit
        pipelinedBytes = settings.pipelineLimit
        outboxBytes = settings.outboxLimit
        bufferBytes = settings.bufferLimit
        headDeadline = settings.headTimeout
        bodyDeadline = settings.bodyTimeout
        idleDeadline = settings.idleTimeout
        writeDeadline = settings.writeTimeout
        lingerDeadline = settings.lingerTimeout
        drainDeadline = settings.drainTimeout
    }
}

extension Listener {
    init(_ settings: Config.Server, router: Router) {
        var proxies = TrustedProxies()
        proxies.addresses = settings.trustedProxies
        proxies.forwardedHeader = settings.forwardedHeader
        proxies.proxyProtocol = settings.proxyProtocol
        self.init(
            address: .tcp(host: settings.host, port: UInt16(clamping: settings.port)),
            router: router, proxies: proxies)
    }
}
