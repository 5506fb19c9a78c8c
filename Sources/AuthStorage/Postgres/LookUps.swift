internal import AuthCore
internal import Scheduling
internal import Synchronization

/// Sends the look-ups of several callers in one round trip.
///
/// A look-up takes the database some microseconds, but the round trip takes ten times as long,
/// because it wakes a process of the server and a thread of this program. As in its own round trip,
/// each look-up sees everything that was committed before it began.
struct LookUps: Sendable {
    /// One of several look-ups that were sent together has failed: each has to be repeated alone.
    struct Interrupted: Error {}

    /// A look-up without the type of its result.
    private struct Item: Sendable {
        let statement: PostgresStatement
        let publish: @Sendable (Result<PostgresResult, any Error>) -> Void
    }

    /// One for each event loop.
    private let batchers: [(loop: EventLoop, batcher: Batcher<Item, Void>)]

    init(_ pool: PostgresPool) {
        // Measured with 16 clients: four trips at once cost the database and the node a quarter
        // more than two, and one trip costs no less than two. With two trips, a look-up that waits
        // for the disk delays only half of the others. A trip has few look-ups, because they share
        // the time limit of one statement.
        let trips = pool.loops.count == 1 ? 2 : 1
        batchers = pool.loops.map { loop in
            let batcher = Batcher<Item, Void>(pool, trips: trips, limit: 16) { items, connection in
                do {
                    try await connection.run(items.map(\.statement)) { results in
                        for (item, result) in zip(items, results) { item.publish(.success(result)) }
                    }
                } catch {
                    let error = items.count == 1 ? error : Interrupted()
                    for item in items { item.publish(.failure(error)) }
                }
                return items.map { _ in }
            }
            return (loop, batcher)
        }
    }

    var statistics: StoreStatistics.Batches {
        let all = batchers.map { $0.batcher.statistics(as: "look_ups") }
        var sizes = Histogram.sizes
        for each in all { sizes.add(each.sizes) }
        return .init(
            name: "look_ups", sizes: sizes, waiting: all.reduce(0) { $0 + $1.waiting })
    }

    /// How many look-ups wait to be sent.
    var waiting: Int { batchers.reduce(0) { $0 + $1.batcher.waiting } }

    /// - Throws: as ``PostgresPool/run(_:_:)``, and ``Interrupted``.
    func run<T: Sendable>(
        _ statement: PostgresStatement,
        _ read: @escaping @Sendable (PostgresResult) throws -> T
    ) async throws -> T {
        let result = Published<T>()
        let (_, batcher) = batchers.first { $0.loop.isCurrent } ?? batchers[0]
        try await batcher.output(
            of: Item(statement: statement) { rows in
                result.publish(Result { try read(rows.get()) })
            })
        return try result.get()
    }
}

/// A result that is set before its caller is resumed.
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
