// All three: which module the compiler takes the system's socket types from depends on the order in
// which it loads them.
internal import CCurl
internal import CResolver
internal import Glibc
public import Networking
public import Scheduling

/// Looks up TXT and MX records on a separate pool, so that a slow nameserver delays nothing else.
///
/// Guarantees: At most `lanes` look-ups run at once and `depth` wait. Every look-up ends within the
/// timeout, including the time in the queue. No answer larger than ``DNSAnswer/maxBytes`` is read.
/// The search list and the hosts file are not used: a name is asked for as it is written.
public final class DNSClient: Sendable {
    /// How often each server is asked while none answers, because a datagram may be lost.
    private static let rounds = 2
    /// Nameservers of the system that are used, as many as resolv.conf(5) allows.
    private static let maxSystemServers = 3

    private let pool: WorkerPool
    private let servers: [SocketAddress]
    private let timeout: Duration

    /// - Parameters:
    ///   - servers: asked in this order; the system's, read at each look-up, when empty.
    ///   - timeout: for the whole look-up: the queue, every server and every repetition.
    ///   - shares: how many look-ups of one client or site may run or wait.
    public init(
        servers: [SocketAddress] = [], timeout: Duration = .seconds(5), lanes: Int = 16,
        depth: Int = 64, shares: WorkerPool.Shares = .ofLanes
    ) {
        pool = WorkerPool(name: "dns", lanes: lanes, depth: depth, shares: shares)
        self.servers = servers
        self.timeout = timeout
    }

    public var statistics: WorkerPool.Statistics { pool.statistics }

    /// The TXT records at `name`, the strings of each joined (RFC 7208 §3.3); empty when there are
    /// none or the name does not exist.
    /// - Parameter client: who asked for it; `nil` for the server itself.
    /// - Throws: ``DNSError``, or `CancellationError` when cancelled before it began.
    public func texts(at name: String, for client: IPAddress?) async throws -> [String] {
        try await lookUp(name, .text, for: client).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The hosts of the MX records at `name`, the most preferred first, in lower case and without a
    /// dot at the end. A null MX (RFC 7505) is the empty host.
    /// - Parameter client: as for ``texts(at:for:)``.
    /// - Throws: as ``texts(at:for:)``.
    public func mailExchangers(
        of name: String, for client: IPAddress?
    ) async throws -> [String] {
        try await lookUp(name, .mailExchanger, for: client).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func lookUp(
        _ name: String, _ kind: DNSRecordKind, for client: IPAddress?
    ) async throws -> [[UInt8]] {
        let deadline = ContinuousClock.now + timeout
        do {
            return try await pool.run(for: client) { [servers] in
                let query: DNSQuery
                do throws(DNSError.Cause) {
                    query = try DNSQuery(name, kind)
                } catch {
                    throw DNSError(error)
                }
                let servers = servers.isEmpty ? Self.systemServers() : servers
                return try Self.ask(servers, query, by: deadline)
            }
        } catch is WorkerPool.Full {
            throw DNSError(.busy)
        }
    }

    /// - Returns: the values of the first answer that is not an error.
    /// - Throws: the error of the last server that was asked.
    private static func ask(
        _ servers: [SocketAddress], _ query: DNSQuery, by deadline: ContinuousClock.Instant
    ) throws(DNSError) -> [[UInt8]] {
        guard let first = servers.first else { throw DNSError(.noServer) }
        var last = DNSError(.timedOut, server: first)
        let turns = servers.count * rounds
        for turn in 0..<turns {
            let now = ContinuousClock.now
            guard now < deadline else { break }
            let server = servers[turn % servers.count]
            // The remaining time is divided among the remaining turns.
            let share = now.duration(to: deadline) / (turns - turn)
            do throws(DNSError.Cause) {
                let exchange = DNSExchange(
                    server: server, datagramDeadline: now + share, deadline: deadline)
                return try DNSAnswer(try exchange.answer(to: query)).values(query.kind)
            } catch {
                last = DNSError(error, server: server)
                // Another server has the same answer.
                if error == .tooLarge { break }
            }
        }
        throw last
    }

    private static func systemServers() -> [SocketAddress] {
        var found = [sockaddr_storage](repeating: sockaddr_storage(), count: maxSystemServers)
        let count = Int(cresolver_servers(&found, Int32(found.count)))
        return found.prefix(max(0, count)).compactMap {
            withUnsafeBytes(of: $0, SocketAddress.init(sockaddr:))
        }
    }
}

/// Why a look-up in the DNS has no answer. A name without records counts as an answer.
public struct DNSError: Error, Equatable, CustomStringConvertible {
    /// What went wrong.
    public enum Cause: Error, Equatable, CustomStringConvertible {
        /// The text is not a name that can be asked for.
        case invalidName
        /// The system is configured without a nameserver.
        case noServer
        /// The number is `errno`.
        case unreachable(Int32)
        case timedOut
        /// The nameserver answered with an error (RFC 1035 §4.1.1, RCODE).
        case responseCode(Int)
        case malformed
        /// The answer has more bytes or records than are read.
        case tooLarge
        /// The queue has no place, at least not for this client.
        case busy

        public var description: String {
            switch self {
            case .invalidName: "the name cannot be looked up"
            case .noServer: "no nameserver is configured"
            case .unreachable(let code):
                "the nameserver cannot be reached: \(String(cString: strerror(code)))"
            case .timedOut: "the nameserver did not answer in time"
            case .responseCode(let code): "the nameserver answered with error code \(code)"
            case .malformed: "the nameserver's answer is malformed"
            case .tooLarge: "the nameserver's answer is too large"
            case .busy: "too many look-ups are in progress"
            }
        }
    }

    public let cause: Cause
    /// The nameserver that was asked last; `nil` when none was asked.
    public let server: SocketAddress?

    public init(_ cause: Cause, server: SocketAddress? = nil) {
        self.cause = cause
        self.server = server
    }

    /// `192.0.2.53:53: the nameserver did not answer in time`.
    public var description: String { (server.map { "\($0): " } ?? "") + cause.description }
}
