internal import AuthCore
internal import Synchronization

/// The stores of AuthCore in one SQLite database: one connection that writes, a few that read.
///
/// Promises what the protocols say, also between processes that share the file: what was
/// acknowledged is on the disk (write-ahead log, `synchronous=FULL`); a lock or a full queue is
/// `StoreBusy` and a full disk `StoreFull`, never an absence.
final class SQLiteStore: Sendable {
    private let writer: Writer
    private let connections: [Connection]
    private let readers: [Connection]
    private let turn = Atomic<Int>(0)
    let pingTimeout: Duration

    /// Opens the database, making and migrating it as needed. Blocks for as long as that takes.
    /// - Parameters:
    ///   - observers: called on the writer's queue.
    ///   - now: recorded with each migration that is applied.
    /// - Throws: ``MigrationError`` when the file is not for this program, `StoreBusy` or
    ///   ``StorageError`` when it cannot be opened.
    static func open(
        _ location: SQLiteLocation, settings: SQLiteSettings = SQLiteSettings(),
        observers: StoreObservers = StoreObservers(), at now: Instant
    ) throws -> SQLiteStore {
        let migrator = SQLiteMigrator(location, settings: settings)
        let database = try migrator.open()
        _ = try migrator.migrate(database, at: now)
        var readers: [Connection] = []
        if case .file = location {
            for index in 0..<max(1, settings.readers) {
                readers.append(
                    Connection(
                        try SQLiteConnection.readable(location, settings: settings),
                        label: "sqlite.reader.\(index)", depth: settings.depth))
            }
        }
        let connection = Connection(
            database, label: "sqlite.writer", depth: settings.depth,
            observers: observers)
        return SQLiteStore(connection, readers: readers, settings: settings)
    }

    private init(_ connection: Connection, readers: [Connection], settings: SQLiteSettings) {
        writer = Writer(connection, depth: settings.depth)
        self.readers = readers.isEmpty ? [connection] : readers
        connections = [connection] + readers
        pingTimeout = settings.pingTimeout
    }

    /// This store as all stores of the program.
    var stores: Stores { Stores(self, ping: ping, close: close) }

    /// Closes every connection; the last one on a file moves its log into it. Later calls throw
    /// ``StorageError/closed``.
    func close() async {
        // Readers first: only the last connection to go may clear the log away.
        for connection in connections.reversed() { await connection.close() }
    }

    /// Writes that wait for the disk now, for an operator's eyes and for tests.
    var waitingWrites: Int { writer.waiting }

    func write<T: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        try await writer.write(work)
    }

    func read<T: Sendable>(_ work: @escaping @Sendable (SQLiteConnection) throws -> T) async throws
        -> T
    {
        let turn = turn.add(1, ordering: .relaxed).newValue
        return try await readers[Int(turn.magnitude % UInt(readers.count))].use(work)
    }
}
