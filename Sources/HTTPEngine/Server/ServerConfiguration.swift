/// Whether connections begin with a PROXY protocol header, of version 1 or 2.
public enum ProxyProtocol: String, CaseIterable, Sendable {
    case off
    /// Every connection does; one whose peer is no trusted proxy, or without a valid header, is
    /// closed without an answer.
    case required
}

/// Every limit and deadline of the server, each with its unit and default.
public struct ServerConfiguration: Sendable {
    /// What to listen on: an IPv4 or IPv6 address, or `*` for every address of both families on
    /// one dual-stack socket. No names: nothing is resolved.
    public var host = "127.0.0.1"
    /// 0 lets the kernel pick; ``Server/start()`` says which.
    public var port: UInt16 = 8080
    /// Proxies that are believed whom they ask for.
    public var trustedProxies: [AddressBlock] = []
    /// Where they say so, request by request. A connection is theirs all the same.
    public var forwardedHeader = ForwardedHeader.xForwardedFor
    /// Whether they say so before the first request; then the connection is their client's.
    public var proxyProtocol = ProxyProtocol.off
    /// Connections the kernel holds for us before they are accepted.
    public var backlog: Int32 = 1024
    /// Event loops, each a serial queue; nil is one per core.
    public var loops: Int?

    /// Open connections; one more is answered 503 and closed.
    public var maxConnections = 10_000
    /// Open connections from one client, an IPv4 address or an IPv6 /64; one more is answered 503
    /// and closed.
    public var maxConnectionsPerClient = 1_024

    /// Octets of the request line without its CR LF; more is 414.
    public var requestLineBytes = 8_192
    /// Octets of request line and header fields together; more is 431.
    public var headBytes = 32_768
    /// Header fields; more is 431.
    public var headerCount = 100
    /// Octets of body where the route names no limit of its own; more is 413.
    public var bodyBytes = 65_536
    /// Octets of chunk extensions in one body; more is 400.
    public var chunkExtensionBytes = 1_024
    /// Octets of trailer fields, which are read and dropped; more is 400.
    public var trailerBytes = 8_192
    /// Requests read ahead on one connection beyond the one being answered.
    public var pipelinedRequests = 16
    /// Octets of those requests, heads and bodies; beyond it nothing more is read ahead.
    public var pipelinedBytes = 65_536
    /// Octets of replies that wait for a client to read; beyond that its requests are not read.
    public var outboxBytes = 262_144
    /// Octets of requests and of answers that all connections may hold together, beyond 8,192 each;
    /// a request that would pass it is answered 503, a client that does not read is cut off.
    public var bufferBytes = 134_217_728

    /// From the first octet of a head (or from accepting the connection) to its end; 408 after it.
    public var headDeadline: Duration = .seconds(10)
    /// From the end of the head to the end of the body; 408 after it.
    public var bodyDeadline: Duration = .seconds(30)
    /// From the last answer to the first octet of the next request; closed after it.
    public var idleDeadline: Duration = .seconds(60)
    /// How long a reply may wait for the client to read all of it; cut off after it.
    public var writeDeadline: Duration = .seconds(30)
    /// After an early answer: how long the rest of the request is read and dropped, so that a reset
    /// does not take the answer away from the client (RFC 9112 §9.6).
    public var lingerDeadline: Duration = .seconds(1)
    /// How long ``Server/drain()`` waits for requests in flight.
    public var drainDeadline: Duration = .seconds(30)
    /// The `Retry-After` of the 503 for too many connections, in seconds.
    public var retryAfter = 1

    public init() {}
}
