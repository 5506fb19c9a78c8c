internal import AuthCore
internal import Scheduling
internal import Synchronization

/// The connections of one store. Each has a lane of a worker pool: a serial queue on which waiting
/// for the server delays nobody else.
///
/// Guarantees: There are at most `connections` at once. Calls wait in a bounded queue that is fair
/// between clients. A call beyond the queue, or one that waited too long, gets `StoreBusy`, and
/// none of its statements has been sent. Connections are opened when they are needed. While no
/// server can be reached, one call at a time tries to connect and the others fail at once.
final class PostgresPool: Sendable {
    private let workers: WorkerPool
    private let connections: [PostgresConnection]
    private let settings: PostgresSettings
    private let roundTrips = RoundTrips()

    init(_ url: PostgresURL, settings: PostgresSettings, _ reachability: Reachability) {
        self.settings = settings
        let workers = WorkerPool(
            name: "postgres", lanes: max(1, settings.connections), depth: settings.depth,
            shares: settings.shares)
        self.workers = workers
        connections = workers.lanes.map { [roundTrips] lane in
            PostgresConnection(
                url, settings: settings, on: lane, reachability, roundTrips: roundTrips)
        }
    }

    /// Runs statements in one transaction and one round trip.
    /// - Parameter read: makes the value of the results, on the connection's queue.
    /// - Throws: ``PostgresFailure``, `StoreBusy`, ``StorageError/closed``, or what `read` throws.
    func run<T: Sendable>(
        _ statements: [PostgresStatement],
        _ read: @escaping @Sendable ([PostgresResult]) throws -> T
    ) async throws -> T {
        let deadline = ContinuousClock.now + settings.waitTimeout
        do {
            let place = try reserve()
            do {
                return try await place.runOnLane { [connections] lane in
                    guard ContinuousClock.now < deadline else {
                        throw Self.waitedTooLong
                    }
                    return try connections[lane].assumeIsolated { try $0.run(statements, read) }
                }
            } catch let failure as NoConnection {
                // The server may only lack a free connection for this lane. Statements of another
                // lane then come first.
                guard let other = connections.filter(\.isOpen).randomElement() else {
                    throw StoreBusy(failure.cause)
                }
                return try await other.run(statements, read)
            }
        } catch let failure as NoConnection {
            throw StoreBusy(failure.cause)
        }
    }

    /// - Parameter batches: what is sent together.
    func statistics(_ batches: [StoreStatistics.Batches]) -> StoreStatistics {
        StoreStatistics(
            statements: roundTrips.statements.all, transactions: roundTrips.all, batches: batches,
            connections: (workers.statistics, connections.count { $0.isOpen }))
    }

    /// How long a call may wait.
    var waitTimeout: Duration { settings.waitTimeout }

    static var waitedTooLong: StoreBusy { StoreBusy("all connections are in use for too long") }

    /// Takes a place of the caller's client.
    /// - Throws: `StoreBusy`.
    func reserve() throws -> WorkerPool.Place {
        do {
            return try workers.reserve(for: Caller.current?.address)
        } catch {
            throw StoreBusy("all connections are in use, and the queue is full")
        }
    }

    /// Begins work on the first connection that is free, for callers who hold places and wait for
    /// it.
    func begin(_ work: @escaping @Sendable (isolated PostgresConnection) -> Void) {
        workers.begin { [connections] lane in
            connections[lane].assumeIsolated { work($0) }
        }
    }

    /// Opens one connection, so that a wrong URL is found at the start.
    /// - Throws: `StoreBusy`.
    func connect() async throws {
        do {
            // The lane that is taken first.
            try await connections[connections.count - 1].open()
        } catch let failure as NoConnection {
            throw StoreBusy(failure.cause)
        }
    }

    func close() async {
        for connection in connections { await connection.close() }
    }
}

/// A connection could not be opened, and no statement was sent.
struct NoConnection: Error {
    let cause: String
}

/// A connection that is opened when it is needed, and again after it was lost.
actor PostgresConnection {
    private let executor: QueueExecutor
    private let url: PostgresURL
    private let settings: PostgresSettings
    private let reachability: Reachability
    private let roundTrips: RoundTrips
    private var handle: PostgresHandle? {
        didSet { openness.store(handle != nil, ordering: .relaxed) }
    }
    private nonisolated let openness = Atomic<Bool>(false)
    private var opening = ContinuousClock.now
    private var isClosed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Whether there is a connection, which may have been lost without notice.
    nonisolated var isOpen: Bool { openness.load(ordering: .relaxed) }

    init(
        _ url: PostgresURL, settings: PostgresSettings, on executor: QueueExecutor,
        _ reachability: Reachability, roundTrips: RoundTrips
    ) {
        self.url = url
        self.settings = settings
        self.executor = executor
        self.reachability = reachability
        self.roundTrips = roundTrips
    }

    func open() throws {
        _ = try opened()
    }

    func close() {
        handle = nil
        isClosed = true
    }

    /// As ``PostgresPool/run(_:_:)``. Statements that a broken connection did not send are sent
    /// again on a new one.
    func run<T: Sendable>(
        _ statements: [PostgresStatement], _ read: @Sendable ([PostgresResult]) throws -> T
    ) throws -> T {
        do {
            return try read(try sent(statements))
        } catch PostgresFailure.lost(wasSent: false, _) {
            return try read(try sent(statements))
        }
    }

    private func sent(_ statements: [PostgresStatement]) throws -> [PostgresResult] {
        let handle = try opened()
        let begin = ContinuousClock.now
        let elapsed = ElapsedTime()
        defer { roundTrips.record(statements, nanoseconds: elapsed.nanoseconds) }
        do throws(PostgresFailure) {
            return try handle.run(statements)
        } catch {
            if case .lost(let wasSent, _) = error {
                self.handle = nil
                // The other connections are probably lost, too, and would notice it only one after
                // another.
                if wasSent { reachability.noteLoss(of: handle.host, since: begin) }
            }
            throw error
        }
    }

    private func opened() throws -> PostgresHandle {
        guard !isClosed else { throw StorageError.closed }
        if let handle, !reachability.hasLoss(since: opening) { return handle }
        handle = nil
        try reachability.beginAttempt()
        opening = .now
        do {
            let opened = try PostgresHandle(url, settings: settings, order: reachability.order)
            reachability.endAttempt(nil)
            reachability.note(opened.host)
            handle = opened
            return opened
        } catch {
            reachability.endAttempt("\(error)")
            throw NoConnection(cause: "\(error)")
        }
    }
}

/// The result of the last attempt to connect, and its host. All connections of a store share it, so
/// that for a server that is down there is one attempt at a time and not one for each request.
final class Reachability: Sendable {
    private struct State {
        var attempts = 0
        /// Why the last attempt failed, and when.
        var failure: (cause: String, at: ContinuousClock.Instant)?
        /// The time of the last statement whose connection was lost.
        var loss: ContinuousClock.Instant?
        var order = PostgresHostOrder.ofURL
    }

    private static let pause = Duration.milliseconds(200)
    private static let silence = Duration.seconds(1)
    private let onChange: @Sendable (_ cause: String?) -> Void
    private let state = Mutex(State())

    /// - Parameter onChange: called when the server cannot be reached, with the cause, and with
    ///   `nil` when it can be reached again.
    init(_ onChange: @escaping @Sendable (_ cause: String?) -> Void) {
        self.onChange = onChange
    }

    /// In which order hosts should be tried now.
    var order: PostgresHostOrder { state.withLock { $0.order } }

    /// A connection was made to this host.
    func note(_ host: PostgresHost) {
        state.withLock { $0.order = .first(host) }
    }

    /// A connection was lost. Connections that were opened before its last statement are not used
    /// again.
    ///
    /// A host that was silent is tried last: it may not answer new connections either. One that
    /// has closed its connections refuses new ones without delay.
    /// - Parameter begin: when that statement was sent.
    func noteLoss(of host: PostgresHost, since begin: ContinuousClock.Instant) {
        state.withLock { state in
            state.loss = max(state.loss ?? begin, begin)
            let isLatest = if case .first(let other) = state.order { other == host } else { true }
            if isLatest, .now - begin >= Self.silence { state.order = .last(host) }
        }
    }

    func hasLoss(since opening: ContinuousClock.Instant) -> Bool {
        state.withLock { state in state.loss.map { $0 >= opening } ?? false }
    }

    /// - Throws: if the server could not be reached a moment ago, or another call is trying to
    ///   connect.
    fileprivate func beginAttempt() throws(NoConnection) {
        let cause: String? = state.withLock { state in
            if let failure = state.failure,
                state.attempts > 0 || ContinuousClock.now < failure.at + Self.pause
            {
                return failure.cause
            }
            state.attempts += 1
            return nil
        }
        if let cause { throw NoConnection(cause: cause) }
    }

    /// - Parameter cause: why the attempt failed; `nil` when it succeeded.
    func endAttempt(_ cause: String?) {
        let hasChanged = state.withLock { state in
            defer { state.failure = cause.map { ($0, .now) } }
            state.attempts -= 1
            return (state.failure == nil) != (cause == nil)
        }
        if hasChanged { onChange(cause) }
    }
}
