internal import Synchronization

/// Gauges and counters of a server at one moment, for metrics.
public struct ServerStatistics: Sendable {
    /// Why a connection or a request was rejected before it was read.
    public enum Rejection: String, CaseIterable, Sendable {
        /// ``ServerConfiguration/maxConnections``, or those of a ``SessionService``.
        case connectionLimit = "connection_limit"
        /// ``ServerConfiguration/maxConnectionsPerClient``.
        case clientLimit = "client_limit"
        /// ``ServerConfiguration/maxConnectionsPerSite``.
        case siteLimit = "site_limit"
        /// ``ServerConfiguration/bufferBytes``, or ``SessionService/Limits/heldBytes``.
        case bufferLimit = "buffer_limit"
        /// A PROXY header is required, and the peer is not a trusted proxy.
        case untrustedProxy = "untrusted_proxy"
        /// A PROXY header is required, and there was none or no valid one.
        case invalidProxyHeader = "invalid_proxy_header"
        /// The client and this server did not agree on TLS, or the client sent something else.
        case failedHandshake = "failed_handshake"
        /// The process is out of descriptors, or the kernel of memory.
        case outOfDescriptors = "out_of_descriptors"
    }

    /// Connections that are open now.
    public let openConnections: Int
    /// Requests whose handler is running.
    public let requestsInFlight: Int
    /// Bytes of requests and responses in memory, not counting the first 8,192 of each connection.
    public let bufferedBytes: Int
    /// Connections that were accepted within the limits since the start.
    public let acceptedConnections: Int
    /// What was rejected since the start.
    public let rejections: [Rejection: Int]
}

/// Counts rejections by their reason.
struct RejectionCounts {
    private(set) var counts: [ServerStatistics.Rejection: Int] = [:]

    mutating func count(_ reason: ServerStatistics.Rejection) {
        counts[reason, default: 0] += 1
    }

    mutating func merge(_ other: RejectionCounts) {
        counts.merge(other.counts, uniquingKeysWith: +)
    }
}

/// The rejections that are not the connection limiter's, over all loops.
final class RejectionCounter: Sendable {
    private let state = Mutex(RejectionCounts())

    func count(_ reason: ServerStatistics.Rejection) { state.withLock { $0.count(reason) } }

    var counts: RejectionCounts { state.withLock { $0 } }
}

/// A number that one loop changes and all threads may read. It uses no locked instruction, because
/// it changes twice for each request.
final class LoopGauge: Sendable {
    private let number = Atomic<Int>(0)

    var value: Int { number.load(ordering: .relaxed) }

    func increment() { number.store(value + 1, ordering: .relaxed) }

    func decrement() { number.store(value - 1, ordering: .relaxed) }
}
