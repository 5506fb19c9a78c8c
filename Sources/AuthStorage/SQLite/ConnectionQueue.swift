internal import AuthCore
internal import Scheduling
internal import Synchronization

/// One SQLite connection with its own serial queue, so that a slow disk or another process's lock
/// delays only the users of this connection.
///
/// Guarantees: jobs run one at a time, those on the queue in the order in which they came. At most
/// `depth` callers of ``run(_:)`` run or wait; the next one gets `StoreBusy` and its job does not
/// run.
actor ConnectionQueue {
    private let executor: QueueExecutor
    private let depth: Int
    private let callerCount = Atomic<Int>(0)
    /// Jobs of ``perform(_:)`` that run or wait now.
    private let performing = Atomic<Int>(0)
    private let connection: Mutex<SQLiteConnection?>

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(_ connection: sending SQLiteConnection, label: String, depth: Int) {
        self.connection = Mutex(connection)
        self.depth = depth
        executor = QueueExecutor(label: label)
    }

    /// Callers of ``run(_:)`` whose job runs or waits now.
    nonisolated var callers: Int { callerCount.load(ordering: .relaxed) }

    /// Runs `work` on the queue and returns its result. This costs one switch to the queue and one
    /// back.
    nonisolated func run<T: Sendable>(
        _ work: @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        defer { callerCount.subtract(1, ordering: .relaxed) }
        guard callerCount.add(1, ordering: .relaxed).newValue <= depth else { throw StoreBusy() }
        return try await call(work)
    }

    /// Runs `work` on the caller's thread, without switching to the queue.
    /// - Parameter work: short, and not a commit, because it delays the other clients of a loop.
    /// - Returns: `nil` when the connection is in use or waited for, and `work` did not run.
    nonisolated func runIfIdle<T: Sendable>(
        _ work: @Sendable (SQLiteConnection) throws -> T
    ) throws -> T? {
        // Waiting callers come first. With a lock alone, a caller that never pauses could keep it.
        guard callers == 0, performing.load(ordering: .relaxed) == 0 else { return nil }
        return try connection.withLockIfAvailable { try Self.run(work, on: $0) }
    }

    private func call<T: Sendable>(
        _ work: @Sendable (SQLiteConnection) throws -> T
    ) throws -> T {
        try connection.withLock { try Self.run(work, on: $0) }
    }

    private static func run<T: Sendable>(
        _ work: @Sendable (SQLiteConnection) throws -> T, on connection: SQLiteConnection?
    ) throws -> T {
        guard let connection else { throw StorageError.closed }
        return try work(connection)
    }

    /// Puts `work` on the queue and returns at once. The caller limits how many wait.
    /// - Parameter work: gets `nil` when the connection is closed.
    nonisolated func perform(_ work: @escaping @Sendable (SQLiteConnection?) -> Void) {
        performing.add(1, ordering: .relaxed)
        executor.perform {
            self.connection.withLock { work($0) }
            self.performing.subtract(1, ordering: .relaxed)
        }
    }

    /// Closes the connection. Later jobs fail with ``StorageError/closed``.
    func close() {
        connection.withLock { $0 = nil }
    }
}
