internal import AuthCore
internal import Scheduling
internal import Synchronization

/// Collects requests of several callers to the database, and has them sent together.
///
/// Guarantees: If fewer than `trips` are under way, an item is sent soon, with those that come
/// before the loop has executed the jobs that it has. Other items wait for the end of a trip and
/// are then sent together in order, at most `limit` of them. Each caller
/// keeps a place of the pool meanwhile, so the queue is bounded and clients have shares of it. A
/// waiting item is sent even if its caller is cancelled.
final class Batcher<Item: Sendable, Output: Sendable>: Sendable {
    /// Sends the items.
    /// - Returns: as many outputs, in their order.
    typealias Send = @Sendable ([Item], isolated PostgresConnection) async -> [Output]

    private final class Waiting: Sendable {
        let item: Item
        let deadline: ContinuousClock.Instant
        let suspension = Suspension()
        private let result = Mutex<Result<Output, any Error>?>(nil)

        init(_ item: Item, until deadline: ContinuousClock.Instant) {
            self.item = item
            self.deadline = deadline
        }

        func set(_ new: Result<Output, any Error>) { result.withLock { $0 = new } }

        /// Waits for the result.
        func output() async throws -> Output {
            await suspension.wait()
            guard let result = result.withLock({ $0 }) else { preconditionFailure("no result") }
            return try result.get()
        }
    }

    private struct State {
        var waiting: [Waiting] = []
        var trips = 0
        var sizes = Histogram.sizes
    }

    private let pool: PostgresPool
    private let trips: Int
    private let limit: Int
    private let send: Send
    private let state = Mutex(State())

    /// - Parameters:
    ///   - trips: the number of trips that may be under way at once.
    ///   - limit: the most items of one trip.
    init(_ pool: PostgresPool, trips: Int, limit: Int, send: @escaping Send) {
        self.pool = pool
        self.trips = trips
        self.limit = limit
        self.send = send
    }

    /// How many items wait to be sent.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// - Parameter name: what is sent.
    func statistics(as name: String) -> StoreStatistics.Batches {
        state.withLock { .init(name: name, sizes: $0.sizes, waiting: $0.waiting.count) }
    }

    /// - Throws: `StoreBusy` when the queue is full or the item has waited too long; then it was
    ///   not sent.
    func output(of item: Item) async throws -> Output {
        try Task.checkCancellation()
        let place = try pool.reserve()
        let waiting = Waiting(item, until: .now + pool.waitTimeout)
        let begins = state.withLock { state in
            state.waiting.append(waiting)
            guard state.trips < trips else { return false }
            state.trips += 1
            return true
        }
        if begins { pool.begin { await self.sendWaiting($0) } }
        let output = try await waiting.output()
        _ = consume place
        return output
    }

    private func sendWaiting(_ connection: isolated PostgresConnection) async {
        let taken = state.withLock { state in
            defer { state.waiting.removeFirst(min(limit, state.waiting.count)) }
            return state.waiting.prefix(limit)
        }
        let now = ContinuousClock.now
        let batch = taken.filter { now < $0.deadline }
        let outputs = batch.isEmpty ? [] : await send(batch.map(\.item), connection)
        let isMore = state.withLock { state in
            if !batch.isEmpty { state.sizes.record(batch.count) }
            if state.waiting.isEmpty { state.trips -= 1 }
            return !state.waiting.isEmpty
        }
        if isMore { pool.begin { await self.sendWaiting($0) } }
        for late in taken where now >= late.deadline {
            late.set(.failure(PostgresPool.waitedTooLong))
        }
        for (one, output) in zip(batch, outputs) { one.set(.success(output)) }
        connection.resume(taken.map(\.suspension))
    }
}
