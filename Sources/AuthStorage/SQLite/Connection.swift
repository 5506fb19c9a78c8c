internal import AuthCore
internal import Scheduling
internal import Synchronization

/// The actor that owns one ``Database``, on a queue of its own so that a slow disk or a foreign
/// lock holds up nothing but this connection.
///
/// Promises: at most `depth` calls of ``use(_:)`` wait at once; the next is turned away with
/// `StoreBusy` before it touches anything.
actor Connection {
    private let executor: QueueExecutor
    private let depth: Int
    private let calls = Atomic<Int>(0)
    private let onEvent: @Sendable (AuditEvent) -> Void
    private let onRoom: @Sendable (Bool) -> Void
    private var database: Database?
    /// Whether the last write found the disk full.
    private var isFull = false

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - onEvent: told of each event that ``commit(_:)`` has made durable.
    ///   - onRoom: told `false` when a write finds the disk full, `true` when one goes through
    ///     again.
    init(
        _ database: sending Database, label: String, depth: Int,
        onEvent: @escaping @Sendable (AuditEvent) -> Void = { _ in },
        onRoom: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.database = database
        self.onEvent = onEvent
        self.onRoom = onRoom
        self.depth = depth
        executor = QueueExecutor(label: label)
    }

    /// Calls of ``use(_:)`` that run or wait now.
    nonisolated var callers: Int { calls.load(ordering: .relaxed) }

    /// Runs `work` alone on the connection.
    nonisolated func use<T: Sendable>(
        _ work: @Sendable (Database) throws -> T
    ) async throws -> T {
        defer { calls.subtract(1, ordering: .relaxed) }
        guard calls.add(1, ordering: .relaxed).newValue <= depth else { throw StoreBusy() }
        return try await perform(work)
    }

    private func perform<T: Sendable>(_ work: @Sendable (Database) throws -> T) throws -> T {
        guard let database else { throw StorageError.closed }
        return try work(database)
    }

    /// Commits `batch` in one transaction, hence with one wait for the disk.
    ///
    /// Each write runs behind a savepoint: one that fails undoes its own changes only. When the
    /// transaction itself is lost, every write in it is told so, and none of them has happened.
    func commit(_ batch: [any PendingWrite]) {
        do {
            guard let database else { throw StorageError.closed }
            // What a lost transaction has left here never came to be.
            database.events = []
            let hasRoom = try database.transaction { try perform(batch, in: database) }
            note(hasRoom: hasRoom)
            for event in database.events { onEvent(event) }
        } catch {
            if error is StoreFull { note(hasRoom: false) }
            for write in batch { write.fail(error) }
        }
    }

    /// - Returns: whether there was room for all of it.
    private func perform(_ batch: [any PendingWrite], in database: Database) throws -> Bool {
        var hasRoom = true
        for write in batch {
            try database.run(.savepoint)
            let recorded = database.events.count
            do {
                try write.perform(in: database)
            } catch {
                // SQLite gave up the whole transaction: no write before this one stands either.
                guard database.isInTransaction else { throw error }
                try database.run(.undo)
                database.events.removeSubrange(recorded...)
                write.fail(error)
                if error is StoreFull { hasRoom = false }
            }
            try database.run(.release)
        }
        return hasRoom
    }

    /// Tells of changes only: a full disk would fail as many writes as come.
    private func note(hasRoom: Bool) {
        guard isFull == hasRoom else { return }
        isFull = !hasRoom
        onRoom(hasRoom)
    }

    /// Ends the connection; later calls throw ``StorageError/closed``.
    func close() {
        database = nil
    }
}

extension Database {
    /// Runs `work` inside one immediate transaction: committed when it returns, undone when
    /// anything throws.
    func transaction<T>(_ work: () throws -> T) throws -> T {
        // IMMEDIATE takes the write lock at once. A transaction that begins as a reader and then
        // wants to write is refused without waiting when another wrote in between.
        try run(.begin)
        do {
            let result = try work()
            try run(.commit)
            return result
        } catch {
            // The first error is the one to report, and a connection that cannot even roll back
            // shows it at the next BEGIN.
            if isInTransaction { _ = try? run(.rollback) }
            throw error
        }
    }
}

extension Query {
    fileprivate static let begin = Query("begin", "BEGIN IMMEDIATE")
    fileprivate static let commit = Query("commit", "COMMIT")
    fileprivate static let rollback = Query("rollback", "ROLLBACK")
    fileprivate static let savepoint = Query("savepoint", "SAVEPOINT one_write")
    fileprivate static let undo = Query("undo", "ROLLBACK TO one_write")
    fileprivate static let release = Query("release", "RELEASE one_write")
}
