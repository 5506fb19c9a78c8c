public import AuthCore
internal import CSQLite

/// Brings a SQLite database to the shape that this program knows, or says why it will not.
///
/// Promises: each migration happens whole or not at all; of several programs that migrate one file
/// at once exactly one applies each; a file that is refused is left as it was, to the byte.
public struct Migrator: Sendable {
    /// What is behind a database and what is before it.
    public struct Report: Equatable, Sendable {
        /// From ``Migrator/plan()`` what is behind it, from ``Migrator/migrate(at:)`` what that
        /// call has just applied.
        public let applied: [Migration]
        public let pending: [Migration]
    }

    private let location: SQLiteLocation
    private let settings: SQLiteSettings
    private let known: [Migration]

    public init(_ location: SQLiteLocation, settings: SQLiteSettings = SQLiteSettings()) {
        self.init(location, settings: settings, known: Migration.sqlite)
    }

    init(_ location: SQLiteLocation, settings: SQLiteSettings, known: [Migration]) {
        self.location = location
        self.settings = settings
        self.known = known
    }

    /// What ``migrate(at:)`` would do. Makes and changes nothing.
    public func plan() throws -> Report {
        guard location.exists else { return report(applied: 0) }
        let database = try Database.readable(location, settings: settings)
        return report(applied: try inspect(database))
    }

    /// Applies what is pending, making the file when it is not there.
    /// - Parameter now: noted beside each migration.
    /// - Returns: what this call applied, and what is still pending, which is nothing.
    public func migrate(at now: Instant) throws -> Report {
        let database = try open()
        return Report(applied: try migrate(database, at: now), pending: [])
    }

    /// A connection that writes to a database that is there and is this program's.
    func open() throws -> Database {
        try location.create()
        // Looked at before it is opened for writing: that alone would change a foreign file.
        _ = try plan()
        return try Database.writable(location, settings: settings)
    }

    /// - Returns: what it applied, in order.
    func migrate(_ database: Database, at now: Instant) throws -> [Migration] {
        var applied: [Migration] = []
        while let step = try database.transaction({ try applyNext(database, at: now) }) {
            applied.append(step)
        }
        return applied
    }

    /// Inside a transaction, which holds the write lock: nobody else migrates meanwhile.
    private func applyNext(_ database: Database, at now: Instant) throws -> Migration? {
        let count = try inspect(database)
        guard count < known.count else { return nil }
        if count == 0 { try database.execute(script: Self.founding, name: "found") }
        let step = known[count]
        try database.execute(script: step.script, name: "migration \(step.number)")
        try database.run(
            .recordMigration, .integer(Int64(step.number)), .text(step.name),
            .text(step.checksum), .instant(now))
        return step
    }

    private func report(applied count: Int) -> Report {
        Report(applied: Array(known[..<count]), pending: Array(known[count...]))
    }

    /// - Returns: how many of the known migrations the database has behind it.
    private func inspect(_ database: Database) throws -> Int {
        guard try isOurs(database) else { return 0 }
        let rows = try database.all(.appliedMigrations) { row in
            (number: Int(try row.integer(0)), checksum: try row.text(1))
        }
        for (index, row) in rows.enumerated() {
            guard row.number == index + 1 else {
                throw MigrationError.gap(
                    path: location.path, expected: index + 1, found: row.number)
            }
            guard index < known.count else {
                throw MigrationError.newer(
                    path: location.path, database: rows.count, program: known.count)
            }
            guard row.checksum == known[index].checksum else {
                throw MigrationError.changed(
                    path: location.path, number: row.number, name: known[index].name)
            }
        }
        return rows.count
    }

    /// - Returns: `false` for a database with nothing in it.
    func isOurs(_ database: Database) throws -> Bool {
        do {
            let (id, objects) =
                try database.first(.identity) { row in
                    (try row.integer(0), try row.integer(1))
                } ?? (0, 0)
            if id == 0, objects == 0 { return false }
            guard id == Self.applicationID else {
                throw MigrationError.foreign(path: location.path)
            }
            return true
        } catch StorageError.failed(_, let code) where code & 0xff == SQLITE_NOTADB {
            throw MigrationError.foreign(path: location.path)
        }
    }

    /// `Pstn`, in the header of every database that is ours (sqlite.org/pragma.html).
    private static let applicationID: Int64 = 0x5073_746e

    private static let founding = """
        PRAGMA application_id = \(applicationID);
        CREATE TABLE schema_migration (
            number     INTEGER PRIMARY KEY NOT NULL,
            name       TEXT NOT NULL,
            checksum   TEXT NOT NULL,
            applied_at INTEGER NOT NULL
        ) STRICT;
        """
}

extension Query {
    /// One statement, so that a database which another program is just founding is seen either
    /// empty or whole.
    fileprivate static let identity = Query(
        "identity",
        """
        SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id
        """)

    fileprivate static let appliedMigrations = Query(
        "appliedMigrations", "SELECT number, checksum FROM schema_migration ORDER BY number")

    fileprivate static let recordMigration = Query(
        "recordMigration",
        """
        INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)
        """)
}
