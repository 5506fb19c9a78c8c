public import AuthCore
internal import Synchronization

/// The stores of AuthCore in one SQLite database: one connection that writes, a few that read.
///
/// Promises what the protocols say, also between processes that share the file: what was
/// acknowledged is on the disk (write-ahead log, `synchronous=FULL`); a lock or a full queue is
/// `StoreBusy` and a full disk `StoreFull`, never an absence.
public final class SQLiteStore: Sendable {
    private let writer: Writer
    private let connections: [Connection]
    private let readers: [Connection]
    private let turn = Atomic<Int>(0)
    let pingTimeout: Duration

    /// Opens the database, making and migrating it as needed. Blocks for as long as that takes.
    /// - Parameters:
    ///   - onEvent: told of every event that this store puts on record, once it is durable and
    ///     before whoever caused it is answered. Runs on the writer's queue and must not wait.
    ///   - onRoom: told `false` when a write finds the disk full, `true` when one goes through
    ///     again. Runs there too.
    ///   - now: noted beside each migration that is applied.
    /// - Throws: ``MigrationError`` when the file is not for this program, `StoreBusy` or
    ///   ``StorageError`` when it cannot be had.
    public static func open(
        _ location: SQLiteLocation, settings: SQLiteSettings = SQLiteSettings(),
        onEvent: @escaping @Sendable (AuditEvent) -> Void = { _ in },
        onRoom: @escaping @Sendable (Bool) -> Void = { _ in }, at now: Instant
    ) throws -> SQLiteStore {
        let migrator = Migrator(location, settings: settings)
        let database = try migrator.open()
        _ = try migrator.migrate(database, at: now)
        var readers: [Connection] = []
        if case .file = location {
            for index in 0..<max(1, settings.readers) {
                readers.append(
                    Connection(
                        try Database.readable(location, settings: settings),
                        label: "sqlite.reader.\(index)", depth: settings.depth))
            }
        }
        let connection = Connection(
            database, label: "sqlite.writer", depth: settings.depth, onEvent: onEvent,
            onRoom: onRoom)
        return SQLiteStore(connection, readers: readers, settings: settings)
    }

    private init(_ connection: Connection, readers: [Connection], settings: SQLiteSettings) {
        writer = Writer(connection, depth: settings.depth)
        self.readers = readers.isEmpty ? [connection] : readers
        connections = [connection] + readers
        pingTimeout = settings.pingTimeout
    }

    /// Closes every connection; the last one on a file moves its log into it. Later calls throw
    /// ``StorageError/closed``.
    public func close() async {
        // Readers first: only the last connection to go may clear the log away.
        for connection in connections.reversed() { await connection.close() }
    }

    /// Writes that wait for the disk now, for an operator's eyes and for tests.
    public var waitingWrites: Int { writer.waiting }

    func write<T: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await writer.write(work)
    }

    func read<T: Sendable>(_ work: @escaping @Sendable (Database) throws -> T) async throws -> T {
        let turn = turn.add(1, ordering: .relaxed).newValue
        return try await readers[Int(turn.magnitude % UInt(readers.count))].use(work)
    }
}
