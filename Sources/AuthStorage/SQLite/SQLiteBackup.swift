internal import AuthCore
internal import CSQLite
internal import Glibc

/// Copies a database that is in use, as it was at one moment.
///
/// Promises: what was acknowledged before the copy began is in it, of what comes later nothing is;
/// nobody who reads or writes meanwhile waits; the database is not migrated; the copy has been
/// looked through and is on the disk. While it copies, the database's log cannot be moved into it
/// and grows.
struct SQLiteBackup: Sendable {
    private let location: SQLiteLocation
    private let settings: SQLiteSettings

    private let pagesPerStep: Int32

    init(of location: SQLiteLocation, settings: SQLiteSettings = SQLiteSettings()) {
        // 1 MiB of SQLite's usual pages.
        self.init(of: location, settings: settings, pagesPerStep: 256)
    }

    /// - Parameter pagesPerStep: what is copied between two looks at the progress.
    init(of location: SQLiteLocation, settings: SQLiteSettings, pagesPerStep: Int32) {
        self.location = location
        self.settings = settings
        self.pagesPerStep = pagesPerStep
    }

    /// Copies into a new file at `path`, which its owner alone may read.
    /// - Parameter onProgress: called as it goes; what it throws ends the copying.
    /// - Throws: ``MigrationError/foreign(path:)`` for what is no database of ours,
    ///   ``StorageError`` when it cannot be read or copied. A file that was begun is left there.
    func write(
        to path: String, onProgress: (BackupProgress) throws -> Void = { _ in }
    ) throws {
        let source = try SQLiteConnection.readable(location, settings: settings)
        guard try SQLiteMigrator(location, settings: settings).isOurs(source) else {
            throw MigrationError.foreign(path: location.path)
        }
        try Self.makeFile(path)
        let copy = try SQLiteConnection(path: path, busyTimeout: .zero)
        try source.snapshot { try source.copy(to: copy, pagesPerStep, onProgress) }
        try copy.lookThrough()
    }

    private static func makeFile(_ path: String) throws {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw StorageError.inaccessible(path: path, code: errno) }
        close(descriptor)
    }
}

extension SQLiteConnection {
    /// Runs `work` on what the database holds now.
    ///
    /// SQLite's online backup begins again whenever somebody else has written, and would never end
    /// on a busy server; on a connection that reads already it copies what that one sees.
    fileprivate func snapshot(_ work: () throws -> Void) throws {
        try run(SQL.beginReading)
        defer { _ = try? run(SQL.endReading) }
        // The transaction begins with its first look.
        _ = try exists(SQL.anything)
        try work()
    }

    /// All pages, as sqlite.org/backup.html has it.
    fileprivate func copy(
        to copy: SQLiteConnection, _ pagesPerStep: Int32,
        _ onProgress: (BackupProgress) throws -> Void
    ) throws {
        let pageBytes = try first(SQL.pageSize) { Int(try $0.integer(0)) } ?? 0
        guard let backup = sqlite3_backup_init(copy.handle, "main", handle, "main") else {
            throw Self.failure(sqlite3_extended_errcode(copy.handle), in: "backup")
        }
        var code = SQLITE_OK
        do {
            while code == SQLITE_OK {
                code = sqlite3_backup_step(backup, pagesPerStep)
                let total = Int(sqlite3_backup_pagecount(backup))
                let copied = total - Int(sqlite3_backup_remaining(backup))
                try onProgress(
                    .init(copiedBytes: copied * pageBytes, totalBytes: total * pageBytes))
            }
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        // Says again what a step said, unless that was the end.
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw Self.failure(code, in: "backup") }
    }

    /// A damaged database would be copied with its damage, and be found out when it is needed.
    fileprivate func lookThrough() throws {
        guard try first(SQL.quickCheck, read: { try $0.text(0) }) == "ok" else {
            throw StorageError.failed(statement: SQL.quickCheck.name, code: SQLITE_CORRUPT)
        }
    }
}

private enum SQL {
    static let beginReading = Query("beginReading", "BEGIN")
    static let endReading = Query("endReading", "COMMIT")
    static let anything = Query("anything", "SELECT 1 FROM sqlite_schema LIMIT 1")
    static let pageSize = Query("pageSize", "PRAGMA page_size")
    static let quickCheck = Query("quickCheck", "PRAGMA quick_check(1)")
}
