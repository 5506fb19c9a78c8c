/// The service that answers the netstrings of a listener, with one reply for each.
public struct NetstringService: Sendable {
    /// Bytes of a request, 1 to 100,000. A longer one is answered with `oversized`; one beyond
    /// 100,000 bytes closes its connection.
    public let requestBytes: Int
    /// The reply to a request that is too long.
    public let oversized: [UInt8]
    /// The reply to a request whose answer failed. The error is reported to the hook.
    public let failed: [UInt8]
    /// The reply to a request, without its frame.
    public private(set) var answer: @Sendable ([UInt8]) async throws -> [UInt8]
    /// The limiter of this service's connections, which do not count for HTTP.
    let limiter: ConnectionLimiter

    /// - Parameters:
    ///   - maxConnections: open connections; one more is closed at once.
    ///   - answer: returns the reply to a request. Runs on the connection's
    ///     loop: slow work belongs on another executor.
    public init(
        requestBytes: Int, maxConnections: Int, oversized: [UInt8], failed: [UInt8],
        answer: @escaping @Sendable ([UInt8]) async throws -> [UInt8]
    ) {
        precondition((1...NetstringReader.maxDroppedBytes).contains(requestBytes))
        self.requestBytes = requestBytes
        self.oversized = oversized
        self.failed = failed
        self.answer = answer
        limiter = ConnectionLimiter(limit: maxConnections, clientLimit: maxConnections)
    }

    /// The same service with the answers of another one. Its connections keep their counts.
    func answering(as other: NetstringService) -> NetstringService {
        var service = self
        service.answer = other.answer
        return service
    }
}

/// A connection that did not send netstrings where these are expected.
public struct NetstringError: Error, Equatable, Sendable, CustomStringConvertible {
    public let listener: ListenAddress

    public var description: String { "what a client of \(listener) sent is no netstring" }
}
