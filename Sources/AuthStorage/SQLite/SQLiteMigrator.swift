internal import AuthCore
internal import CEmbeddedFiles
internal import CSQLite

/// Applies this program's migrations to a SQLite database.
///
/// Guarantees: All pending migrations are applied, or none is. If several programs migrate one
/// file at the same time, exactly one applies them. A file that cannot be migrated stays
/// unchanged, byte by byte.
struct SQLiteMigrator: Sendable {
    private let location: SQLiteLocation
    private let settings: SQLiteSettings
    private let known: [Migration]

    init(
        _ location: SQLiteLocation, settings: SQLiteSettings = SQLiteSettings(),
        known: [Migration] = Migration.sqlite
    ) {
        self.location = location
        self.settings = settings
        self.known = known
    }

    /// Creates and changes nothing.
    func status() throws -> MigrationStatus {
        guard location.exists else { return try status(recorded: []) }
        return try status(of: try SQLiteConnection.readable(location, settings: settings))
    }

    /// Creates the file when it is missing and applies what is pending.
    /// - Parameter now: recorded with each migration.
    /// - Returns: what this call applied, in order.
    func migrate(at now: Instant) throws -> [Migration] {
        try migrate(try open(), at: now)
    }

    /// Opens a connection that can write to the database. Throws for another program's file.
    func open(times: StatementTimes? = nil) throws -> SQLiteConnection {
        try location.create()
        // Checked on a connection that cannot write: opening for writing changes a foreign file.
        _ = try status()
        return try SQLiteConnection.writable(location, settings: settings, times: times)
    }

    /// As ``migrate(at:)``, on a connection from ``open()``.
    func migrate(_ connection: SQLiteConnection, at now: Instant) throws -> [Migration] {
        // One transaction: a new database is written to the disk once.
        try connection.transaction {
            var applied: [Migration] = []
            while let step = try applyNext(connection, at: now) { applied.append(step) }
            return applied
        }
    }

    /// The transaction around it holds the write lock, so no other process migrates at the same
    /// time.
    private func applyNext(_ connection: SQLiteConnection, at now: Instant) throws -> Migration? {
        let status = try status(of: connection)
        guard let step = status.pending.first else { return nil }
        if status.applied.isEmpty {
            try connection.execute(script: Self.historyTable, name: "createHistory")
        }
        try connection.execute(script: step.script, name: "migration \(step.number)")
        try connection.run(
            SQL.recordMigration, .integer(Int64(step.number)), .text(step.name),
            .text(step.checksum), .instant(now))
        return step
    }

    private func status(of connection: SQLiteConnection) throws -> MigrationStatus {
        guard try isOurs(connection) else { return try status(recorded: []) }
        return try status(
            recorded: connection.all(SQL.appliedMigrations) { row in
                (number: Int(try row.integer(0)), checksum: try row.text(1))
            })
    }

    private func status(
        recorded: [(number: Int, checksum: String)]
    ) throws(MigrationError) -> MigrationStatus {
        try MigrationStatus(recorded: recorded, known: known, path: location.path)
    }

    /// - Returns: `false` for a database with nothing in it.
    /// - Throws: ``MigrationError/foreign(path:)`` for another program's file.
    func isOurs(_ connection: SQLiteConnection) throws -> Bool {
        do {
            let (id, objects) =
                try connection.first(SQL.identity) { row in
                    (try row.integer(0), try row.integer(1))
                } ?? (0, 0)
            if id == 0, objects == 0 { return false }
            guard id == Self.applicationID else {
                throw MigrationError.foreign(path: location.path)
            }
            return true
        } catch StorageError.failed(_, .sqlite(let code)) where code & 0xff == SQLITE_NOTADB {
            throw MigrationError.foreign(path: location.path)
        }
    }

    /// `Pstn`, in the header of every database of this program (sqlite.org/pragma.html).
    private static let applicationID: Int64 = 0x5073_746e

    private static let historyTable = """
        PRAGMA application_id = \(applicationID);
        CREATE TABLE schema_migration (
            number     INTEGER PRIMARY KEY NOT NULL,
            name       TEXT NOT NULL,
            checksum   TEXT NOT NULL,
            applied_at INTEGER NOT NULL
        ) STRICT;
        """
}

extension Migration {
    /// The migrations of the SQLite engine.
    static let sqlite = [
        Migration(1, "accounts", EmbeddedFile.sqlite_0001_sql.bytes),
        Migration(2, "users", EmbeddedFile.sqlite_0002_sql.bytes),
        Migration(3, "hash_login", EmbeddedFile.sqlite_0003_sql.bytes),
        Migration(4, "token_scopes", EmbeddedFile.sqlite_0004_sql.bytes),
        Migration(5, "abuse", EmbeddedFile.sqlite_0005_sql.bytes),
        Migration(6, "account_events", EmbeddedFile.sqlite_0006_sql.bytes),
        Migration(7, "webhooks", EmbeddedFile.sqlite_0007_sql.bytes),
        Migration(8, "sessions", EmbeddedFile.sqlite_0008_sql.bytes),
        Migration(9, "factors", EmbeddedFile.sqlite_0009_sql.bytes),
        Migration(10, "identities", EmbeddedFile.sqlite_0010_sql.bytes),
        Migration(11, "email_links", EmbeddedFile.sqlite_0011_sql.bytes),
    ]
}

private enum SQL {
    /// One statement, so that a database that another program is just creating is seen either
    /// empty or complete.
    static let identity = Query(
        "identity",
        """
        SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id
        """)

    static let appliedMigrations = Query(
        "appliedMigrations", "SELECT number, checksum FROM schema_migration ORDER BY number")

    static let recordMigration = Query(
        "recordMigration",
        """
        INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)
        """)
}
