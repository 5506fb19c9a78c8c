internal import AuthCore
internal import Scheduling

/// The connections of one store. Each belongs to one of the event loops, which have about as many
/// of them each. A call uses a free one of its own loop if there is one, and otherwise any.
///
/// Guarantees: There are at most `connections` at once. Calls wait in a bounded queue that is fair
/// between clients. A call beyond the queue, or one that waited too long, gets `StoreBusy`, and
/// none of its statements has been sent. Connections are opened when they are needed. While no
/// server can be reached, one call at a time tries to connect and the others fail at once.
final class PostgresPool: Sendable {
    let loops: [EventLoop]
    /// Has a lane for each connection.
    private let workers: WorkerPool
    private let connections: [PostgresConnection]
    private let settings: PostgresSettings
    private let roundTrips = RoundTrips()

    /// - Parameter loops: at least one.
    init(
        _ url: PostgresURL, on loops: [EventLoop], settings: PostgresSettings,
        _ reachability: Reachability
    ) {
        self.settings = settings
        self.loops = loops
        let lanes = (0..<max(1, settings.connections)).map { loops[$0 % loops.count] }
        workers = WorkerPool(
            name: "postgres", on: lanes, depth: settings.depth, shares: settings.shares)
        connections = lanes.map { [roundTrips] loop in
            PostgresConnection(
                url, settings: settings, on: loop, reachability, roundTrips: roundTrips)
        }
    }

    /// Runs statements in one transaction and one round trip.
    /// - Parameter read: makes the value of the results, on the connection's loop.
    /// - Throws: ``PostgresFailure``, `StoreBusy`, ``StorageError/closed``, or what `read` throws.
    func run<T: Sendable>(
        _ statements: [PostgresStatement],
        _ read: @escaping @Sendable ([PostgresResult]) throws -> T
    ) async throws -> T {
        let deadline = ContinuousClock.now + settings.waitTimeout
        do {
            return try await reserve().withLane { lane in
                guard ContinuousClock.now < deadline else { throw Self.waitedTooLong }
                do {
                    return try await connections[lane].run(statements, read)
                } catch let failure as NoConnection {
                    // The server may only lack a free connection for this lane. Statements of
                    // another lane then come first.
                    guard let other = connections.filter(\.isOpen).randomElement() else {
                        throw failure
                    }
                    return try await other.run(statements, read)
                }
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
    func begin(_ work: @escaping @Sendable (isolated PostgresConnection) async -> Void) {
        workers.begin { [connections, workers] lane in
            connections[lane].assumeIsolated {
                $0.begin {
                    await work($0)
                    workers.giveBack(lane: lane)
                }
            }
        }
    }

    /// Has a connection that was opened elsewhere as one of its own.
    func adopt(_ handle: sending PostgresHandle) async {
        // That of the lane that is taken first.
        await connections[connections.count - 1].adopt(handle)
    }

    func close() async {
        for connection in connections { await connection.close() }
    }
}

/// A connection could not be opened, and no statement was sent.
struct NoConnection: Error {
    let cause: String
}
