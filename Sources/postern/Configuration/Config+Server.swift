internal import HTTPEngine

extension Config {
    /// The listener, and what one client may cost.
    struct Server: Sendable {
        /// The defaults of limits and deadlines are those of the HTTP engine.
        private static let engine = ServerConfiguration()

        /// Address to listen on; `*` takes every address of IPv4 and IPv6.
        var host = "127.0.0.1"
        /// TCP port; 0 picks a free one, which is printed when the server is ready.
        var port = 8080
        /// The URL that clients reach this server by, the issuer of its tokens. Outside production
        /// it defaults to `http://127.0.0.1:<port>`; production refuses to start without one.
        var publicURL: BaseURL?
        /// Proxies that are believed whom they ask for; without any, the client is whoever is at
        /// the other end of the connection.
        var trustedProxies: [AddressBlock] = []
        /// The header field in which they say so; the other one is not looked at.
        var forwardedHeader = ForwardedHeader.xForwardedFor
        /// Whether every connection begins with a PROXY protocol header of a trusted proxy.
        var proxyProtocol = ProxyProtocol.off

        /// Event loops, each a thread; 0 means one per core.
        var loops = 0
        /// Connections that the kernel may hold before they are accepted.
        var backlog = Int(engine.backlog)
        /// Connections at once; one more is answered 503 and closed.
        var maxConnections = engine.maxConnections
        /// Connections at once from one client, an IPv4 address or an IPv6 /64.
        var maxConnectionsPerClient = engine.maxConnectionsPerClient

        /// Octets of a request body; more is answered 413.
        var bodyLimit = engine.bodyBytes
        /// Octets of the request line; more is answered 414.
        var requestLineLimit = engine.requestLineBytes
        /// Octets of the request line and all header fields; more is answered 431.
        var headLimit = engine.headBytes
        /// Header fields; more is answered 431.
        var headerCountLimit = engine.headerCount
        /// Octets of extensions on one chunk of a body; more is answered 400.
        var chunkExtensionLimit = engine.chunkExtensionBytes
        /// Octets of trailer fields, which are read and dropped; more is answered 400.
        var trailerLimit = engine.trailerBytes
        /// Requests of one connection that may wait for their answers; further ones stay unread.
        var pipelineCountLimit = engine.pipelinedRequests
        /// Octets of those requests together.
        var pipelineLimit = engine.pipelinedBytes
        /// Octets of answers that may wait for a client to read them.
        var outboxLimit = engine.outboxBytes
        /// Octets of requests and of answers that all connections may hold together, beyond 8,192
        /// each; a request that would pass it is answered 503, a client that does not read is cut
        /// off.
        var bufferLimit = engine.bufferBytes

        /// From the first octet of a request to the end of its header fields.
        var headTimeout = engine.headDeadline
        /// From there to the end of its body.
        var bodyTimeout = engine.bodyDeadline
        /// How long a kept-alive connection may be silent between requests.
        var idleTimeout = engine.idleDeadline
        /// How long a client may take to read an answer.
        var writeTimeout = engine.writeDeadline
        /// After an early refusal: how long the rest of the request is read and dropped, so that
        /// the answer reaches the client.
        var lingerTimeout = engine.lingerDeadline

        /// After SIGTERM: how long the listener goes on while `/readyz` answers 503, so that load
        /// balancers notice.
        var drainDelay = Duration.zero
        /// After that: how long requests in flight may take before they are cut off.
        var drainTimeout = engine.drainDeadline

        static let settings = [
            Setting("server.host", \.server.host, .host),
            Setting("server.port", \.server.port, .integer(0...65_535)),
            Setting("server.public_url", \.server.publicURL, Syntax.baseURL.optional),
            Setting(
                "server.trusted_proxies", \.server.trustedProxies,
                .list(
                    of: .addressBlock, 0...1000,
                    accepts: "at most 1,000 addresses or blocks (10.0.0.0/8, ::1)")),
            Setting("server.forwarded_header", \.server.forwardedHeader, .oneOf),
            Setting("server.proxy_protocol", \.server.proxyProtocol, .oneOf),
            Setting("server.loops", \.server.loops, .integer(0...1024)),
            Setting("server.backlog", \.server.backlog, .integer(1...65_535)),
            Setting("server.max_connections", \.server.maxConnections, .integer(1...1_000_000)),
            Setting(
                "server.max_connections_per_client", \.server.maxConnectionsPerClient,
                .integer(1...1_000_000)),
            Setting("server.body_limit", \.server.bodyLimit, .integer(1024...16_777_216)),
            Setting("server.request_line_limit", \.server.requestLineLimit, .integer(256...65_536)),
            Setting("server.head_limit", \.server.headLimit, .integer(1024...1_048_576)),
            Setting("server.header_count_limit", \.server.headerCountLimit, .integer(8...1000)),
            Setting(
                "server.chunk_extension_limit", \.server.chunkExtensionLimit, .integer(0...65_536)),
            Setting("server.trailer_limit", \.server.trailerLimit, .integer(0...1_048_576)),
            Setting(
                "server.pipeline_count_limit", \.server.pipelineCountLimit, .integer(1...1000)),
            Setting("server.pipeline_limit", \.server.pipelineLimit, .integer(1024...16_777_216)),
            Setting("server.outbox_limit", \.server.outboxLimit, .integer(4096...67_108_864)),
            Setting(
                "server.buffer_limit", \.server.bufferLimit, .integer(65_536...1_099_511_627_776)),
            Setting("server.head_timeout", \.server.headTimeout, .duration(.deadlines)),
            Setting("server.body_timeout", \.server.bodyTimeout, .duration(.deadlines)),
            Setting("server.idle_timeout", \.server.idleTimeout, .duration(.deadlines)),
            Setting("server.write_timeout", \.server.writeTimeout, .duration(.deadlines)),
            Setting("server.linger_timeout", \.server.lingerTimeout, .duration(.deadlines)),
            Setting("server.drain_delay", \.server.drainDelay, .duration(.zero ... .seconds(300))),
            Setting(
                "server.drain_timeout", \.server.drainTimeout, .duration(.zero ... .seconds(300))),
        ]
    }
}

extension ClosedRange<Duration> {
    /// What a deadline on the wire may be.
    fileprivate static let deadlines = Duration.milliseconds(100)...Duration.seconds(3600)
}

extension Syntax<AddressBlock> {
    fileprivate static let addressBlock = Syntax.string(
        "an address or a block of them", read: { AddressBlock($0) }, write: \.description)
}
