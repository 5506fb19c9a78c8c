internal import AuthCore
internal import CEmbeddedFiles

/// Applies this program's migrations to a PostgreSQL database.
///
/// Guarantees: Each migration is applied completely or not at all. If several programs migrate one
/// database at the same time, exactly one applies each migration. A database that cannot be
/// migrated stays unchanged.
struct PostgresMigrator {
    private let url: PostgresURL
    private let settings: PostgresSettings
    private let known: [Migration]
    /// Whether a copy into the database may be incomplete.
    private let isCopying: Bool

    init(
        _ url: PostgresURL, settings: PostgresSettings = PostgresSettings(),
        known: [Migration] = Migration.postgres, isCopying: Bool = false
    ) {
        self.isCopying = isCopying
        self.url = url
        self.settings = settings
        self.known = known
    }

    /// Changes nothing.
    func status() throws -> MigrationStatus {
        try translated { try status(of: try PostgresHandle(url, settings: settings)) }
    }

    /// Applies what is pending.
    /// - Parameter now: recorded with each migration.
    /// - Returns: what this call applied, in order.
    func migrate(at now: Instant) throws -> [Migration] {
        try translated { try migrate(PostgresHandle(url, settings: settings), at: now) }
    }

    /// As ``migrate(at:)``.
    /// - Returns: the connection, which a store can use.
    func migratedConnection(at now: Instant) throws -> sending PostgresHandle {
        try translated {
            let handle = try PostgresHandle(url, settings: settings)
            _ = try migrate(handle, at: now)
            return handle
        }
    }

    private func migrate(_ handle: PostgresHandle, at now: Instant) throws -> [Migration] {
        // Most servers find nothing to do, and need not wait for others to find that.
        guard try !status(of: handle).pending.isEmpty else { return [] }
        // Another program may take long to migrate, and a migration may wait for a large table.
        try handle.execute(
            script: "SET statement_timeout = 0; SET lock_timeout = 0", name: "waitLong")
        // The lock prevents that two programs both find the table of migrations missing. It is
        // taken before the transactions, because the server's process learns only at the beginning
        // of one that others have made tables which it has looked for.
        try handle.execute(
            script: "SELECT pg_advisory_lock(\(PostgresLock.migration))", name: "lock")
        var applied: [Migration] = []
        while let step = try applyNext(handle, at: now) { applied.append(step) }
        try handle.execute(
            script: "SELECT pg_advisory_unlock(\(PostgresLock.migration))", name: "unlock")
        try handle.configure(settings)
        return applied
    }

    private func applyNext(_ handle: PostgresHandle, at now: Instant) throws -> Migration? {
        try handle.execute(script: "BEGIN", name: "begin")
        do {
            let status = try status(of: handle)
            let step = status.pending.first
            if let step {
                if status.applied.isEmpty {
                    try handle.execute(script: Self.historyTable, name: "createHistory")
                }
                try handle.execute(script: step.script, name: "migration \(step.number)")
                _ = try handle.run([
                    PostgresStatement(
                        SQL.recordMigration, .integer(Int64(step.number)), .text(step.name),
                        .text(step.checksum), .instant(now))
                ])
            }
            try handle.execute(script: "COMMIT", name: "commit")
            return step
        } catch {
            // The first error is the one to report. A lost connection has undone the transaction.
            _ = try? handle.execute(script: "ROLLBACK", name: "rollback")
            throw error
        }
    }

    private func status(of handle: PostgresHandle) throws -> MigrationStatus {
        let (isOurs, isIncomplete) =
            try handle.run([PostgresStatement(SQL.hasHistory)])[0]
            .first { (try $0.bool(0), try $0.bool(1)) } ?? (false, false)
        guard !isIncomplete || isCopying else { throw MigrationError.incomplete(path: url.shown) }
        guard isOurs else {
            return try MigrationStatus(recorded: [], known: known, path: url.shown)
        }
        let recorded = try handle.run([PostgresStatement(SQL.appliedMigrations)])[0].all { row in
            (number: Int(try row.integer(0)), checksum: try row.text(1))
        }
        return try MigrationStatus(recorded: recorded, known: known, path: url.shown)
    }

    private func translated<T>(_ work: () throws -> T) throws -> T {
        do {
            return try work()
        } catch PostgresFailure.lost(_, let cause) {
            throw StorageError.unconnected(name: url.shown, cause: cause)
        } catch PostgresFailure.rejected(let failure) {
            // A table or function of this name is there: it belongs to another program.
            if failure.state == "42P07" || failure.state == "42723" {
                throw MigrationError.foreign(path: url.shown)
            }
            throw failure.storeError
        }
    }

    private static let historyTable = """
        CREATE TABLE postern_migration (
            number     bigint PRIMARY KEY,
            name       text NOT NULL,
            checksum   text NOT NULL,
            applied_at timestamptz NOT NULL
        )
        """
}

/// The keys of advisory locks. The first half is "Pstn", so that other programs do not use them.
enum PostgresLock {
    private static let base: Int64 = 0x5073_746e << 32

    static let migration = base + 1
    /// Held by transactions that add or remove keys.
    static let signingKeys = base + 2
    /// Held while a background task runs.
    static func task(_ name: String) -> Int64 {
        // FNV-1a, 31 bits of it, so that every node computes the same number.
        let hash = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return base + (1 << 31) + Int64(hash >> 1)
    }
}

extension Migration {
    /// The migrations of the PostgreSQL engine.
    static let postgres = [
        Migration(1, "postgres", EmbeddedFile.postgres_0001_sql.bytes),
        Migration(2, "account_events", EmbeddedFile.postgres_0002_sql.bytes),
        Migration(3, "account_count", EmbeddedFile.postgres_0003_sql.bytes),
        Migration(4, "webhooks", EmbeddedFile.postgres_0004_sql.bytes),
        Migration(5, "sessions", EmbeddedFile.postgres_0005_sql.bytes),
        Migration(6, "factors", EmbeddedFile.postgres_0006_sql.bytes),
        Migration(7, "identities", EmbeddedFile.postgres_0007_sql.bytes),
        Migration(8, "email_links", EmbeddedFile.postgres_0008_sql.bytes),
    ]
}

private enum SQL {
    static let hasHistory = Query(
        "hasHistory",
        """
        SELECT to_regclass('postern_migration') IS NOT NULL, to_regclass('postern_copy') IS NOT NULL
        """)

    static let appliedMigrations = Query(
        "appliedMigrations", "SELECT number, checksum FROM postern_migration ORDER BY number")

    static let recordMigration = Query(
        "recordMigration",
        """
        INSERT INTO postern_migration (number, name, checksum, applied_at)
        VALUES ($1, $2, $3, $4)
        """)
}
