/// The data that all loops of a server share. Immutable except for the counters.
struct ServerContext: Sendable {
    let configuration: ServerConfiguration
    let hooks: ServerHooks
    /// Of the listeners that share their limits.
    let limiter: ConnectionLimiter
    /// Of the others.
    let separateLimiter: ConnectionLimiter
    let budget: BufferBudget
    let rejections = RejectionCounter()
    let parserLimits: ParserLimits
    let outputLimits: ConnectionOutput.Limits
    let phaseLimits: ConnectionPhase.Limits
    private let commonFields: [CommonField]
    private let secureFields: [CommonField]
    /// The names of the rows in which requests are counted. The first is of those without a route.
    let routes: [String]

    static let noRoute = "-"

    init(
        configuration: ServerConfiguration, hooks: ServerHooks, routes: [String] = [noRoute]
    ) {
        self.configuration = configuration
        self.hooks = hooks
        self.routes = routes
        limiter = ConnectionLimiter(configuration)
        separateLimiter = ConnectionLimiter(configuration)
        budget = BufferBudget(
            limit: configuration.bufferBytes, siteLimit: configuration.bufferBytesPerSite)
        parserLimits = ParserLimits(configuration)
        outputLimits = ConnectionOutput.Limits(
            pipelinedRequests: max(1, configuration.pipelinedRequests),
            pipelinedBytes: configuration.pipelinedBytes, unsentBytes: configuration.outboxBytes)
        phaseLimits = ConnectionPhase.Limits(
            head: .init(configuration.headDeadline), body: .init(configuration.bodyDeadline),
            idle: .init(configuration.idleDeadline), write: .init(configuration.writeDeadline),
            linger: .init(configuration.lingerDeadline),
            drainGrace: .init(configuration.drainGrace))
        commonFields = configuration.headers.map { CommonField($0.name, $0.value) }
        secureFields =
            commonFields
            + configuration.secureHeaders.map { CommonField($0.name, $0.value) }
    }

    /// The header fields of every response.
    /// - Parameter isSecure: whether the client gets it over TLS.
    func commonFields(isSecure: Bool) -> [CommonField] { isSecure ? secureFields : commonFields }

    func limiter(of service: HTTPService) -> ConnectionLimiter {
        service.sharesLimits ? limiter : separateLimiter
    }

    /// How often deadlines are checked: an eighth of the shortest, 5 to 250 milliseconds.
    var tick: MonotonicTime.Interval {
        let limits = phaseLimits
        let shortest =
            [limits.head, limits.body, limits.idle, limits.write, limits.linger]
            .map(\.nanoseconds).min() ?? 0
        return MonotonicTime.Interval(
            .nanoseconds(min(max(shortest / 8, 5_000_000), 250_000_000)))
    }
}

extension ConnectionLimiter {
    fileprivate convenience init(_ configuration: ServerConfiguration) {
        self.init(
            limit: configuration.maxConnections,
            clientLimit: configuration.maxConnectionsPerClient,
            siteLimit: configuration.maxConnectionsPerSite)
    }
}

extension ParserLimits {
    init(_ configuration: ServerConfiguration) {
        self.init(
            requestLineBytes: configuration.requestLineBytes, headBytes: configuration.headBytes,
            headerCount: configuration.headerCount,
            chunkExtensionBytes: configuration.chunkExtensionBytes,
            trailerBytes: configuration.trailerBytes)
    }
}
