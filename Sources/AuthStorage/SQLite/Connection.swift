internal import AuthCore
internal import Scheduling
internal import Synchronization

/// The actor that owns one ``SQLiteConnection``, on a queue of its own so that a slow disk or a
/// foreign lock holds up nothing but this connection.
///
/// Promises: at most `depth` calls of ``use(_:)`` wait at once; the next is turned away with
/// `StoreBusy` before it touches anything.
actor Connection {
    private let executor: QueueExecutor
    private let depth: Int
    private let calls = Atomic<Int>(0)
    private let observers: StoreObservers
    private var database: SQLiteConnection?
    /// Whether the last write found the disk full.
    private var isFull = false

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(
        _ database: sending SQLiteConnection, label: String, depth: Int,
        observers: StoreObservers = StoreObservers()
    ) {
        self.database = database
        self.observers = observers
        self.depth = depth
        executor = QueueExecutor(label: label)
    }

    /// Calls of ``use(_:)`` that run or wait now.
    nonisolated var callers: Int { calls.load(ordering: .relaxed) }

    /// Runs `work` alone on the connection.
    nonisolated func use<T: Sendable>(
        _ work: @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        defer { calls.subtract(1, ordering: .relaxed) }
        guard calls.add(1, ordering: .relaxed).newValue <= depth else { throw StoreBusy() }
        return try await perform(work)
    }

    private func perform<T: Sendable>(_ work: @Sendable (SQLiteConnection) throws -> T) throws -> T
    {
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
            for event in database.events { observers.event(event) }
        } catch {
            if error is StoreFull { note(hasRoom: false) }
            for write in batch { write.fail(error) }
        }
    }

    /// - Returns: whether there was room for all of it.
    private func perform(_ batch: [any PendingWrite], in database: SQLiteConnection) throws -> Bool
    {
        var hasRoom = true
        for write in batch {
            try database.run(SQL.savepoint)
            let recorded = database.events.count
            do {
                try write.perform(in: database)
            } catch {
                // SQLite gave up the whole transaction: no write before this one stands either.
                guard database.isInTransaction else { throw error }
                try database.run(SQL.undo)
                database.events.removeSubrange(recorded...)
                write.fail(error)
                if error is StoreFull { hasRoom = false }
            }
            try database.run(SQL.release)
        }
        return hasRoom
    }

    /// Tells of changes only: a full disk would fail as many writes as come.
    private func note(hasRoom: Bool) {
        guard isFull == hasRoom else { return }
        isFull = !hasRoom
        observers.diskFull(!hasRoom)
    }

    /// Ends the connection; later calls throw ``StorageError/closed``.
    func close() {
        database = nil
    }
}

extension SQLiteConnection {
    /// Runs `work` inside one immediate transaction: committed when it returns, undone when
    /// anything throws.
    func transaction<T>(_ work: () throws -> T) throws -> T {
        // IMMEDIATE takes the write lock at once. A transaction that begins as a reader and then
        // wants to write is refused without waiting when another wrote in between.
        try run(SQL.begin)
        do {
            let result = try work()
            try run(SQL.commit)
            return result
        } catch {
            // The first error is the one to report, and a connection that cannot even roll back
            // shows it at the next BEGIN.
            if isInTransaction { _ = try? run(SQL.rollback) }
            throw error
        }
    }
}

private enum SQL {
    static let begin = Query("begin", "BEGIN IMMEDIATE")
    static let commit = Query("commit", "COMMIT")
    static let rollback = Query("rollback", "ROLLBACK")
    static let savepoint = Query("savepoint", "SAVEPOINT one_write")
    static let undo = Query("undo", "ROLLBACK TO one_write")
    static let release = Query("release", "RELEASE one_write")
}
