internal import AuthCore
internal import Scheduling
internal import Synchronization

/// The stores of AuthCore in one SQLite database: one connection that writes, a few that read.
/// Each store protocol is implemented in a separate file.
///
/// Has the guarantees of the protocols, also between processes that share the file. An acknowledged
/// change is on the disk (write-ahead log, `synchronous=FULL`). A lock or a full queue is
/// `StoreBusy` and a full disk `StoreFull`, never an absence.
final class SQLiteStore: Sendable {
    private let writes: WriteQueue
    let writer: ConnectionQueue
    /// Reads take turns over them. For a database in memory it is the writer's.
    private let readers: [ConnectionQueue]
    /// The writer's first.
    private let connections: [ConnectionQueue]
    private let turn = Atomic<Int>(0)
    private let pingTimeout: Duration
    private let times: StatementTimes

    /// Opens the database, creates it when it is missing and applies pending migrations. Blocks
    /// until that is done.
    /// - Parameters:
    ///   - observers: called on the writer's queue.
    ///   - now: recorded with each migration that is applied.
    /// - Throws: ``MigrationError`` when the file is not for this program, `StoreBusy` or
    ///   ``StorageError`` when it cannot be opened.
    static func open(
        _ location: SQLiteLocation, settings: SQLiteSettings = SQLiteSettings(),
        observers: StoreObservers = StoreObservers(), at now: Instant
    ) throws -> SQLiteStore {
        let times = StatementTimes()
        let migrator = SQLiteMigrator(location, settings: settings)
        let connection = try migrator.open(times: times)
        _ = try migrator.migrate(connection, at: now)
        var readers: [ConnectionQueue] = []
        if case .file = location {
            for index in 0..<max(1, settings.readers) {
                readers.append(
                    ConnectionQueue(
                        try SQLiteConnection.readable(location, settings: settings, times: times),
                        label: "sqlite.reader.\(index)", depth: settings.depth))
            }
        }
        let writer = ConnectionQueue(connection, label: "sqlite.writer", depth: settings.depth)
        return SQLiteStore(
            writer, readers: readers, settings: settings, observers: observers, times: times)
    }

    private init(
        _ writer: ConnectionQueue, readers: [ConnectionQueue], settings: SQLiteSettings,
        observers: StoreObservers, times: StatementTimes
    ) {
        writes = WriteQueue(writer, depth: settings.depth, observers: observers)
        self.writer = writer
        self.readers = readers.isEmpty ? [writer] : readers
        connections = [writer] + readers
        pingTimeout = settings.pingTimeout
        self.times = times
    }

    /// This store as all stores of the program.
    var stores: Stores {
        Stores(
            self, statistics: { self.statistics }, ping: ping,
            // Servers that share a file are processes of one machine. Tasks are short, and a second
            // run finds nothing more to do.
            exclusively: { _, work in
                try await work()
                return true
            }, close: close)
    }

    /// Closes every connection; the last one on a file moves its log into it. Later calls throw
    /// ``StorageError/closed``.
    func close() async {
        // Readers first: only the last connection to close can remove the log.
        for connection in connections.reversed() { await connection.close() }
    }

    /// Returns once the database has answered a few reads of the tables that logins need, for
    /// readiness. Damage in the pages that it meets, the first and the last of each, is an error.
    /// - Throws: `StoreBusy` when it is locked, ``StorageError/unresponsive(after:)`` when there
    ///   is no answer within the time limit (a hung disk), or another error.
    func ping() async throws {
        do {
            try await withDeadline(.now + pingTimeout) {
                // On its queue: a hung disk must not stop the caller's thread.
                _ = try await self.reader.run { try $0.first(SQL.ping) { try $0.integer(0) } }
            }
        } catch is DeadlinePassed {
            throw StorageError.unresponsive(after: pingTimeout)
        }
    }

    private var statistics: StoreStatistics {
        StoreStatistics(
            statements: times.all, transactions: writes.commits, batches: [writes.batches])
    }

    /// Writes that wait for the next commit.
    var waitingWrites: Int { writes.waiting }

    /// As ``WriteQueue/write(_:)``.
    func write<T: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        try await writes.write(work)
    }

    /// Like ``write(_:)``, for a change that one event records: neither exists without the other.
    /// - Parameters:
    ///   - sessions: those that end with the change, if any, and their owner.
    ///   - work: returns whether it changed anything.
    func change(
        recording event: AuditEvent,
        ending sessions: (others: OtherSessions?, owner: UserID)? = nil,
        _ work: @escaping @Sendable (SQLiteConnection) throws -> Bool
    ) async throws -> Bool {
        try await write { connection in
            guard try work(connection) else { return false }
            try connection.record(event)
            if let sessions { try connection.end(sessions.others, of: sessions.owner) }
            return true
        }
    }

    /// Runs `work` at once when one of the reading connections is idle, else on the queue of the
    /// next one.
    func read<T: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        for reader in readers {
            if let result = try reader.runIfIdle(work) { return result }
        }
        return try await reader.run(work)
    }

    /// The next of the reading connections.
    private var reader: ConnectionQueue {
        let turn = turn.add(1, ordering: .relaxed).newValue
        return readers[Int(turn.magnitude % UInt(readers.count))]
    }
}

/// Limits and times of a SQLite store.
struct SQLiteSettings: Equatable, Sendable {
    /// Connections that only read. A database in memory has none: its writer reads.
    var readers = 2
    /// How many bytes of the file readers map into memory. They read the rest page by page, and
    /// all of it when this is 0. A disk that cannot read a mapped page ends the process (SIGBUS).
    var mappedBytes = 1 << 30
    /// Calls that may wait for the writer, and for each reader. Beyond: `StoreBusy`.
    var depth = 1024
    /// How long to wait for a lock that another process holds. Beyond: `StoreBusy`.
    var busyTimeout: Duration = .seconds(2)
    /// How long ``SQLiteStore/ping()`` waits for an answer.
    var pingTimeout: Duration = .seconds(1)
}

private enum SQL {
    /// Each part reads one row by an index.
    static let ping = Query("ping", "SELECT " + looks.joined(separator: ", "))

    private static let looks =
        ["(SELECT count(*) FROM schema_migration)"]
        + [
            ("account", "address", "credential_version"), ("account", "id", "credential_version"),
            ("account", "api_key_digest", "credential_version"),
            ("user", "email", "credential_version"), ("user", "id", "credential_version"),
            ("api_token", "digest", "created"), ("user_session", "id", "created"),
            ("hash_login", "email", "credential_version"),
            ("spent_challenge", "id", "expiry"), ("signing_key", "id", "created"),
        ].flatMap { table, key, value in
            ["", " DESC"].map { order in
                "(SELECT \(value) FROM \(table) ORDER BY \(key)\(order) LIMIT 1)"
            }
        } + ["(SELECT time FROM audit ORDER BY sequence DESC LIMIT 1)"]
}
