internal import AuthCore
internal import Synchronization

/// Sends the look-ups of several callers in one round trip.
///
/// A look-up takes some microseconds of the database, and the round trip ten times as much: each
/// wakes two threads of this program and a process of the server. Each look-up sees what was
/// committed before it began, as it does alone.
struct LookUps: Sendable {
    /// One of several that were sent together has failed: each has to be done alone.
    struct Interrupted: Error {}

    /// A look-up without the type of its result.
    private struct Item: Sendable {
        let statement: PostgresStatement
        let publish: @Sendable (Result<PostgresResult, any Error>) -> Void
    }

    private let batcher: Batcher<Item, Void>

    init(_ pool: PostgresPool) {
        // Measured with 16 clients: four trips at once cost the database and the node a quarter
        // more than two, and one no less. With two, a look-up that waits for the disk delays half.
        // Few in a trip, because the time limit of a statement is that of all of them.
        batcher = Batcher(pool, trips: 2, limit: 16) { items, connection in
            do {
                try connection.run(items.map(\.statement)) { results in
                    for (item, result) in zip(items, results) { item.publish(.success(result)) }
                }
            } catch {
                let error = items.count == 1 ? error : Interrupted()
                for item in items { item.publish(.failure(error)) }
            }
            return items.map { _ in }
        }
    }

    var statistics: StoreStatistics.Batches { batcher.statistics(as: "look_ups") }

    /// How many look-ups wait to be sent.
    var waiting: Int { batcher.waiting }

    /// - Throws: as ``PostgresPool/run(_:_:)``, and ``Interrupted``.
    func run<T: Sendable>(
        _ statement: PostgresStatement,
        _ read: @escaping @Sendable (PostgresResult) throws -> T
    ) async throws -> T {
        let result = Published<T>()
        try await batcher.output(
            of: Item(statement: statement) { rows in
                result.publish(Result { try read(rows.get()) })
            })
        return try result.get()
    }
}

/// A result that is there when its caller is resumed.
private final class Published<T: Sendable>: Sendable {
    private let result = Mutex<Result<T, any Error>?>(nil)

    func publish(_ new: Result<T, any Error>) {
        result.withLock { $0 = new }
    }

    func get() throws -> T {
        guard let result = result.withLock({ $0 }) else { preconditionFailure("not sent") }
        return try result.get()
    }
}
