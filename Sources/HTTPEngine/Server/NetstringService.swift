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
    public let answer: @Sendable ([UInt8]) async throws -> [UInt8]
    private let maxConnections: Int

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
        self.maxConnections = maxConnections
        self.oversized = oversized
        self.failed = failed
        self.answer = answer
    }

    /// Its sessions have the deadlines of HTTP requests.
    var sessions: SessionService {
        let (requestBytes, oversized, failed) = (requestBytes, oversized, failed)
        return SessionService(
            limits: .init(connections: maxConnections),
            SessionHandler(
                begin: { _, context in
                    NetstringSession(
                        requestTime: context.configuration.headDeadline,
                        idleTime: context.configuration.idleDeadline, requestBytes: requestBytes,
                        oversized: oversized, failed: failed)
                }, answer: answer, areNetstrings: true))
    }
}

extension Listener.Service {
    public static func netstrings(_ service: NetstringService) -> Self {
        .session(service.sessions)
    }
}
