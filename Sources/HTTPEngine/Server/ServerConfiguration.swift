internal import Glibc
public import Scheduling

/// Every limit and deadline of the server, each with its unit and default. They are the same for
/// all listeners.
public struct ServerConfiguration: Sendable {
    /// Connections that the kernel queues for each listener before they are accepted.
    public var backlog: Int32 = 1024
    /// Event loops, each a serial queue; nil is one per core.
    public var loops: Int?

    /// Open connections; one more is answered 503 and closed.
    public var maxConnections = 10_000
    /// Open connections of one client, an IPv4 address or an IPv6 /64; one more is answered 503
    /// and closed.
    public var maxConnectionsPerClient = 1_024
    /// Open connections of one site, an IPv4 /24 or an IPv6 /48; one more is answered 503 and
    /// closed. Those of trusted proxies are counted neither for a client nor for a site.
    public var maxConnectionsPerSite = 2_500

    /// Bytes of the request line without its CR LF; more is 414.
    public var requestLineBytes = 8_192
    /// Bytes of request line and header fields together; more is 431.
    public var headBytes = 32_768
    /// Header fields; more is 431.
    public var headerCount = 100
    /// Bytes of body where the route has no limit of its own; more is 413.
    public var bodyBytes = 65_536
    /// Bytes of chunk extensions in one body; more is 400.
    public var chunkExtensionBytes = 1_024
    /// Bytes of trailer fields, which are read and dropped; more is 400.
    public var trailerBytes = 8_192
    /// Requests of one connection that wait for the response before theirs; further ones are not
    /// read.
    public var pipelinedRequests = 16
    /// Bytes of those requests, heads and bodies; beyond it no further request is read.
    public var pipelinedBytes = 65_536
    /// Bytes of responses that wait for a client to read them; beyond it its requests are not read.
    public var outboxBytes = 262_144
    /// Bytes of requests and responses that all connections may buffer together, not counting the
    /// first 8,192 of each connection. A request beyond it is answered 503; a client that does not
    /// read is disconnected.
    public var bufferBytes = 134_217_728
    /// Bytes of these that the connections of one site may buffer. Those of trusted proxies count
    /// for no site.
    public var bufferBytesPerSite = 67_108_864

    /// From the first byte of a head (or from accepting the connection) to its end; 408 after it.
    public var headDeadline: Duration = .seconds(10)
    /// From the end of the head to the end of the body; 408 after it.
    public var bodyDeadline: Duration = .seconds(30)
    /// From the last response to the first byte of the next request; closed after it.
    public var idleDeadline: Duration = .seconds(60)
    /// How long a response may wait for the client to read all of it; closed after it.
    public var writeDeadline: Duration = .seconds(30)
    /// After a response that was sent before the whole request had arrived: how long the rest is
    /// read and dropped, so that a reset does not destroy the response (RFC 9112 §9.6).
    public var lingerDeadline: Duration = .seconds(1)
    /// How long ``Server/drain()`` leaves a connection open after its last response, or after it
    /// was accepted: its next request may be on its way.
    public var drainGrace: Duration = .seconds(1)
    /// How long ``Server/drain()`` waits for requests in flight.
    public var drainDeadline: Duration = .seconds(30)
    /// Header fields of every response, including errors of the engine, unless the response has a
    /// field of the same name.
    public var headers: [(name: String, value: String)] = []
    /// Additional fields for responses that the client gets over TLS: from a listener with TLS, or
    /// from one behind a proxy with TLS (``HTTPService/isBehindTLS``).
    public var secureHeaders: [(name: String, value: String)] = []
    /// The `Retry-After` of the 503 for too many connections, in seconds.
    public var retryAfter = 1

    public init() {}

    /// The event loops of one server, which take turns already.
    /// - Throws: `EventLoop.Failure`.
    public func makeEventLoops() throws -> [EventLoop] {
        let count = max(1, loops ?? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let eventLoops = try (0..<count).map { try EventLoop(label: "loop.\($0)") }
        for loop in eventLoops { loop.run() }
        return eventLoops
    }
}
