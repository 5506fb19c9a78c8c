public import Networking
internal import Scheduling
internal import Synchronization

/// The service of a listener whose protocol is a ``ByteSession``.
public struct SessionService: Sendable {
    public struct Limits: Sendable {
        /// Open connections, which do not count for HTTP; one more gets
        /// ``SessionService/Limits/rejection`` and is closed.
        public var connections: Int
        public var connectionsPerClient = Int.max
        public var connectionsPerSite = Int.max
        /// Bytes that all sessions may hold together, not counting the first 8,192 of each.
        public var heldBytes = 33_554_432
        /// From accepting a connection to its end; nil for no limit.
        public var time: Duration?
        /// What a client is sent whose connection exceeds a limit.
        public var rejection: [UInt8] = []

        public init(connections: Int) {
            self.connections = connections
        }
    }

    let limits: Limits
    let limiter: ConnectionLimiter
    let budget: BufferBudget
    let inputErrors = SessionInputErrors()
    private(set) var handler: any SessionHandling

    /// - Parameters:
    ///   - session: makes the session of a client.
    ///   - answer: answers a question of a session. Runs on the connection's loop: slow work
    ///     belongs on another executor. It is cancelled when the connection closes.
    public init<Session: ByteSession>(
        limits: Limits, session: @escaping @Sendable (SocketAddress) -> Session,
        answer: @escaping @Sendable (Session.Question) async throws -> Session.Answer
    ) {
        self.init(
            limits: limits,
            SessionHandler(begin: { client, _ in session(client) }, answer: answer))
    }

    init(limits: Limits, _ handler: any SessionHandling) {
        self.limits = limits
        self.handler = handler
        limiter = ConnectionLimiter(
            limit: limits.connections, clientLimit: limits.connectionsPerClient,
            siteLimit: limits.connectionsPerSite)
        budget = BufferBudget(limit: limits.heldBytes)
    }

    /// The same service with the sessions and answers of another one. Its connections keep their
    /// counts.
    func serving(as other: SessionService) -> SessionService {
        var service = self
        service.handler = other.handler
        return service
    }
}

/// How a service makes its connections.
protocol SessionHandling: Sendable {
    /// Whether its questions count as requests of netstrings.
    var areNetstrings: Bool { get }

    func connection(
        _ transport: PlainTransport, _ place: SessionPlace, _ service: SessionService,
        _ context: ServerContext, at now: MonotonicTime
    ) -> any LoopConnection
}

struct SessionHandler<Session: ByteSession>: SessionHandling {
    let begin: @Sendable (SocketAddress, ServerContext) -> Session
    let answer: @Sendable (Session.Question) async throws -> Session.Answer
    var areNetstrings = false

    func connection(
        _ transport: PlainTransport, _ place: SessionPlace, _ service: SessionService,
        _ context: ServerContext, at now: MonotonicTime
    ) -> any LoopConnection {
        SessionConnection(transport, place, service, self, context, at: now)
    }
}

/// Where a session's connection was accepted, and from whom.
struct SessionPlace: Sendable {
    let listener: Int
    let address: ListenAddress
    let peer: SocketAddress
}

/// Clients sent something that the protocol of their listener does not have, which closed their
/// connections.
public struct SessionInputError: Error, Equatable, Sendable, CustomStringConvertible {
    public let listener: ListenAddress
    /// Such connections since the last report.
    public let count: Int

    public var description: String {
        let clients = count == 1 ? "a client of \(listener)" : "\(count) clients of \(listener)"
        return "what \(clients) sent is not of the protocol of that listener"
    }
}

/// Folds the errors of a service's clients, so that they cannot fill the log.
final class SessionInputErrors: Sendable {
    private let reports = Mutex(FoldedReports<ContinuousClock.Instant>())

    /// - Returns: the error to report; `nil` while errors are only counted.
    func note(of listener: ListenAddress, at now: ContinuousClock.Instant) -> SessionInputError? {
        reports.withLock { $0.note(at: now) }
            .map { SessionInputError(listener: listener, count: $0) }
    }
}
