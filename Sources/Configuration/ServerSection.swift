public import AuthCore
public import HTTPEngine
internal import Networking

/// `[server]`: the listener, and the limits and deadlines of the HTTP engine.
public struct ServerSection: Sendable {
    /// A numeric address, or `*` for all addresses of IPv4 and IPv6.
    var host = "127.0.0.1"
    /// The TCP port; 0 selects a free one, which is printed when the server is ready.
    var port: UInt16 = 8080
    /// The listeners for HTTP; without any there is one at `host` and `port`.
    var listeners: [ListenerSettings] = []
    /// The trusted proxies: client addresses are taken from their headers.
    public var proxies = TrustedProxies()
    /// The limits and deadlines; HTTPEngine owns their defaults.
    public var engine = ServerConfiguration()
    /// The URL that clients use for this server, and the issuer of its tokens. Without one it is
    /// `http://127.0.0.1:<port>`, or `https` where the first public listener has TLS; the
    /// production profile requires one.
    public var publicURL: BaseURL?
    /// How long the listener stays open after SIGTERM while `/readyz` answers 503, so that load
    /// balancers notice.
    public var drainDelay = Duration.zero

    static let settings = [
        Setting("server.host", \.server.host, host),
        Setting("server.port", \.server.port, .integer(0...65_535)),
        Setting(
            "server.listeners", \.server.listeners,
            .list(
                of: ListenerSettings.syntax, 0...16,
                accepts: "at most 16 tables, each \(ListenerSettings.syntax.accepts)")),
        Setting("server.public_url", \.server.publicURL, BaseURL.syntax.optional),
        Setting(
            "server.trusted_proxies", \.server.proxies.addresses,
            .list(
                of: addressBlock, 0...1000,
                accepts: "at most 1,000 addresses or blocks (10.0.0.0/8, ::1)")
        ).reloadable,
        Setting("server.forwarded_header", \.server.proxies.forwardedHeader, .oneOf).reloadable,
        Setting("server.proxy_protocol", \.server.proxies.proxyProtocol, .oneOf),
        Setting("server.loops", \.server.engine.loops, loops),
        Setting("server.backlog", \.server.engine.backlog, .integer(1...65_535)),
        Setting("server.max_connections", \.server.engine.maxConnections, .integer(1...1_000_000)),
        Setting(
            "server.max_connections_per_client", \.server.engine.maxConnectionsPerClient,
            .integer(1...1_000_000)),
        Setting("server.body_limit", \.server.engine.bodyBytes, .integer(1024...16_777_216)),
        Setting(
            "server.request_line_limit", \.server.engine.requestLineBytes, .integer(256...65_536)),
        Setting("server.head_limit", \.server.engine.headBytes, .integer(1024...1_048_576)),
        Setting("server.header_count_limit", \.server.engine.headerCount, .integer(8...1000)),
        Setting(
            "server.chunk_extension_limit", \.server.engine.chunkExtensionBytes,
            .integer(0...65_536)),
        Setting("server.trailer_limit", \.server.engine.trailerBytes, .integer(0...1_048_576)),
        Setting(
            "server.pipeline_count_limit", \.server.engine.pipelinedRequests, .integer(1...1000)),
        Setting(
            "server.pipeline_limit", \.server.engine.pipelinedBytes, .integer(1024...16_777_216)),
        Setting("server.outbox_limit", \.server.engine.outboxBytes, .integer(4096...67_108_864)),
        Setting(
            "server.buffer_limit", \.server.engine.bufferBytes,
            .integer(65_536...1_099_511_627_776)),
        Setting("server.head_timeout", \.server.engine.headDeadline, connectionDeadline),
        Setting("server.body_timeout", \.server.engine.bodyDeadline, connectionDeadline),
        Setting("server.idle_timeout", \.server.engine.idleDeadline, connectionDeadline),
        Setting("server.write_timeout", \.server.engine.writeDeadline, connectionDeadline),
        Setting("server.linger_timeout", \.server.engine.lingerDeadline, connectionDeadline),
        Setting("server.drain_delay", \.server.drainDelay, drainTime),
        Setting("server.drain_grace", \.server.engine.drainGrace, drainTime),
        Setting("server.drain_timeout", \.server.engine.drainDeadline, drainTime),
    ]

    private static let connectionDeadline =
        Syntax.duration(.milliseconds(100) ... .seconds(3600))
    private static let drainTime = Syntax.duration(.zero ... .seconds(300))

    /// A numeric address, so that no name service decides who can connect.
    private static let host = Syntax<String>.string(
        "an IPv4 or IPv6 address, or \"*\" for all addresses of both",
        read: { $0 == "*" || IPAddress($0) != nil ? $0 : nil }, write: { $0 })

    private static let addressBlock = Syntax<IPBlock>.string(
        "an address or a block of addresses", read: { IPBlock($0) }, write: \.description)

    /// 0 stands for one loop per processor.
    private static let loops: Syntax<Int?> = {
        let count = Syntax<Int>.integer(0...1024)
        return Syntax(
            accepts: count.accepts,
            parse: { raw in count.parse(raw).map { $0 == 0 ? nil : $0 } },
            show: { count.show($0 ?? 0) })
    }()
}

extension BaseURL {
    public static let syntax = Syntax<BaseURL>.string(
        "an http or https URL without query, such as \"https://auth.example.com\"",
        read: { BaseURL($0) }, write: \.text)
}
