/// What every loop of a server shares and nobody changes.
struct ServerContext: Sendable {
    let configuration: ServerConfiguration
    let router: Router
    let hooks: ServerHooks
    let census: ConnectionCensus
    let budget: BufferBudget
    let parserLimits: ParserLimits
    let connectionLimits: ConnectionState.Limits

    init(configuration: ServerConfiguration, router: Router, hooks: ServerHooks) {
        self.configuration = configuration
        self.router = router
        self.hooks = hooks
        census = ConnectionCensus(
            most: configuration.maxConnections, mostPerClient: configuration.maxConnectionsPerClient
        )
        budget = BufferBudget(most: configuration.bufferBytes)
        parserLimits = ParserLimits(
            requestLineBytes: configuration.requestLineBytes, headBytes: configuration.headBytes,
            headerCount: configuration.headerCount,
            chunkExtensionBytes: configuration.chunkExtensionBytes,
            trailerBytes: configuration.trailerBytes)
        connectionLimits = ConnectionState.Limits(
            pipelinedRequests: max(1, configuration.pipelinedRequests),
            pipelinedBytes: configuration.pipelinedBytes, outboxBytes: configuration.outboxBytes,
            head: .init(configuration.headDeadline), body: .init(configuration.bodyDeadline),
            idle: .init(configuration.idleDeadline), write: .init(configuration.writeDeadline),
            linger: .init(configuration.lingerDeadline))
    }

    /// How often deadlines are looked at: an eighth of the shortest, 5 to 250 milliseconds.
    var tick: Moment.Span {
        let limits = connectionLimits
        let shortest =
            [limits.head, limits.body, limits.idle, limits.write, limits.linger]
            .map(\.nanoseconds).min() ?? 0
        return Moment.Span(.nanoseconds(min(max(shortest / 8, 5_000_000), 250_000_000)))
    }
}
