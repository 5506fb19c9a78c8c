internal import AuthCore
internal import Synchronization

/// A write that waits for its turn, without its type of result.
protocol PendingWrite: Sendable {
    func perform(in database: Database) throws
    func fail(_ error: any Error)
}

/// All writes of a store, through one connection.
///
/// Promises: what it gives back is durable; writes happen in the order in which they came; those
/// that come while the disk is busy are committed together; at most `depth` wait, beyond which
/// callers are turned away with `StoreBusy` and nothing happened.
final class Writer: Sendable {
    private let connection: Connection
    private let depth: Int
    private let waiting = Mutex<[any PendingWrite]>([])

    init(_ connection: Connection, depth: Int) {
        self.connection = connection
        self.depth = depth
    }

    /// - Parameter work: all of it happens, or nothing when it throws.
    func write<T: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        let write = Write(work)
        let admitted = waiting.withLock { waiting in
            guard waiting.count < depth else { return false }
            waiting.append(write)
            return true
        }
        guard admitted else { throw StoreBusy() }
        // Every writer asks for a commit; the first one there commits for all, so by the time this
        // returns `write` has been through a batch.
        await connection.commit { self.waiting.withLock { exchange(&$0, for: []) } }
        return try write.outcome()
    }

    private func exchange<V>(_ value: inout V, for new: consuming V) -> V {
        let old = value
        value = new
        return old
    }
}

/// One write and, once its batch is through, what came of it.
private final class Write<T: Sendable>: PendingWrite {
    private let work: @Sendable (Database) throws -> T
    private let result = Mutex<Result<T, any Error>?>(nil)

    init(_ work: @escaping @Sendable (Database) throws -> T) {
        self.work = work
    }

    func perform(in database: Database) throws {
        let value = try work(database)
        result.withLock { $0 = .success(value) }
    }

    func fail(_ error: any Error) {
        result.withLock { $0 = .failure(error) }
    }

    func outcome() throws -> T {
        // Without a result the batch never ran, which is a store that went away.
        guard let result = result.withLock({ $0 }) else { throw StorageError.closed }
        return try result.get()
    }
}
