internal import AuthCore
internal import CSQLite
internal import Glibc

/// Copies a database that is in use, as it was at one moment.
///
/// Guarantees: The copy contains everything that was acknowledged before it began, and nothing
/// later. Readers and writers do not wait. The database is not migrated. The copy's integrity has
/// been checked, and it is on the disk. During the copy the database's log cannot be moved into the
/// database, and grows.
struct SQLiteBackup: Sendable {
    private let location: SQLiteLocation
    private let settings: SQLiteSettings
    private let pagesPerStep: Int32

    /// - Parameter pagesPerStep: copied between two calls of `onProgress`; by default 1 MiB of
    ///   SQLite's usual pages.
    init(
        of location: SQLiteLocation, settings: SQLiteSettings = SQLiteSettings(),
        pagesPerStep: Int32 = 256
    ) {
        self.location = location
        self.settings = settings
        self.pagesPerStep = pagesPerStep
    }

    /// Copies into a new file at `path`, which only its owner may read.
    /// - Parameter onProgress: called after each step; an error that it throws ends the copy.
    /// - Throws: ``MigrationError/foreign(path:)`` for another program's database,
    ///   ``StorageError`` when it cannot be read or copied. A partial copy is left at `path`.
    func write(to path: String, onProgress: (BackupProgress) throws -> Void = { _ in }) throws {
        let source = try SQLiteConnection.readable(location, settings: settings)
        guard try SQLiteMigrator(location, settings: settings).isOurs(source) else {
            throw MigrationError.foreign(path: location.path)
        }
        try Self.createFile(path)
        let copy = try SQLiteConnection(path: path, busyTimeout: .zero)
        try copySnapshot(of: source, to: copy, onProgress)
        // A damaged database would be copied with its damage.
        guard try copy.first(SQL.quickCheck, read: { try $0.text(0) }) == "ok" else {
            throw StorageError.failed(
                statement: SQL.quickCheck.name, code: .sqlite(SQLITE_CORRUPT))
        }
    }

    private static func createFile(_ path: String) throws {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw StorageError.inaccessible(path: path, code: errno) }
        close(descriptor)
    }

    /// Copies what `source` holds now.
    ///
    /// The online backup begins again whenever another connection has written, so it would never
    /// end on a busy server. On a connection with an open read transaction it copies the state that
    /// this transaction sees.
    private func copySnapshot(
        of source: SQLiteConnection, to copy: SQLiteConnection,
        _ onProgress: (BackupProgress) throws -> Void
    ) throws {
        try source.run(SQL.beginReading)
        defer { _ = try? source.run(SQL.endReading) }
        // The transaction begins with its first read.
        _ = try source.exists(SQL.anything)
        try copyPages(from: source, to: copy, onProgress)
    }

    /// As sqlite.org/backup.html describes.
    private func copyPages(
        from source: SQLiteConnection, to copy: SQLiteConnection,
        _ onProgress: (BackupProgress) throws -> Void
    ) throws {
        let pageBytes = try source.first(SQL.pageSize) { Int(try $0.integer(0)) } ?? 0
        guard let backup = sqlite3_backup_init(copy.handle, "main", source.handle, "main") else {
            throw SQLiteConnection.error(sqlite3_extended_errcode(copy.handle), in: "backup")
        }
        var code = SQLITE_OK
        do {
            while code == SQLITE_OK {
                code = sqlite3_backup_step(backup, pagesPerStep)
                let total = Int(sqlite3_backup_pagecount(backup))
                let copied = total - Int(sqlite3_backup_remaining(backup))
                try onProgress(
                    BackupProgress(copiedBytes: copied * pageBytes, totalBytes: total * pageBytes))
            }
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        // Returns the error of the last step again.
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw SQLiteConnection.error(code, in: "backup") }
    }
}

/// How far a backup is.
public struct BackupProgress: Equatable, Sendable {
    public let copiedBytes: Int
    public let totalBytes: Int

    public init(copiedBytes: Int, totalBytes: Int) {
        self.copiedBytes = copiedBytes
        self.totalBytes = totalBytes
    }
}

private enum SQL {
    static let beginReading = Query("beginReading", "BEGIN")
    static let endReading = Query("endReading", "COMMIT")
    static let anything = Query("anything", "SELECT 1 FROM sqlite_schema LIMIT 1")
    static let pageSize = Query("pageSize", "PRAGMA page_size")
    static let quickCheck = Query("quickCheck", "PRAGMA quick_check(1)")
}
