internal import AuthCore
internal import CSQLite
internal import Glibc

/// Copies a database that is in use, as it was at one moment.
///
/// Promises: what was acknowledged before the copy began is in it, of what comes later nothing is;
/// nobody who reads or writes meanwhile waits; the database is not migrated; the copy has been
/// looked through and is on the disk. While it copies, the database's log cannot be moved into it
/// and grows.
public struct Backup: Sendable {
    /// How far it is, in octets.
    public struct Progress: Equatable, Sendable {
        public let copied: Int
        public let total: Int

        public init(copied: Int, total: Int) {
            self.copied = copied
            self.total = total
        }
    }

    private let location: SQLiteLocation
    private let settings: SQLiteSettings

    private let pagesPerStep: Int32

    public init(of location: SQLiteLocation, settings: SQLiteSettings = SQLiteSettings()) {
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
    public func write(
        to path: String, onProgress: (Progress) throws -> Void = { _ in }
    ) throws {
        let source = try Database.readable(location, settings: settings)
        guard try Migrator(location, settings: settings).isOurs(source) else {
            throw MigrationError.foreign(path: location.path)
        }
        try Self.makeFile(path)
        let copy = try Database(path: path, busyTimeout: .zero)
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

extension Database {
    /// Runs `work` on what the database holds now.
    ///
    /// SQLite's online backup begins again whenever somebody else has written, and would never end
    /// on a busy server; on a connection that reads already it copies what that one sees.
    fileprivate func snapshot(_ work: () throws -> Void) throws {
        try run(.beginReading)
        defer { _ = try? run(.endReading) }
        // The transaction begins with its first look.
        _ = try exists(.anything)
        try work()
    }

    /// All pages, as sqlite.org/backup.html has it.
    fileprivate func copy(
        to copy: Database, _ pagesPerStep: Int32, _ onProgress: (Backup.Progress) throws -> Void
    ) throws {
        let pageOctets = try first(.pageSize) { Int(try $0.integer(0)) } ?? 0
        guard let backup = sqlite3_backup_init(copy.handle, "main", handle, "main") else {
            throw Self.failure(sqlite3_extended_errcode(copy.handle), in: "backup")
        }
        var code = SQLITE_OK
        do {
            while code == SQLITE_OK {
                code = sqlite3_backup_step(backup, pagesPerStep)
                let total = Int(sqlite3_backup_pagecount(backup))
                let copied = total - Int(sqlite3_backup_remaining(backup))
                try onProgress(.init(copied: copied * pageOctets, total: total * pageOctets))
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
        guard try first(.quickCheck, read: { try $0.text(0) }) == "ok" else {
            throw StorageError.failed(statement: Query.quickCheck.name, code: SQLITE_CORRUPT)
        }
    }
}

extension Query {
    fileprivate static let beginReading = Query("beginReading", "BEGIN")
    fileprivate static let endReading = Query("endReading", "COMMIT")
    fileprivate static let anything = Query("anything", "SELECT 1 FROM sqlite_schema LIMIT 1")
    fileprivate static let pageSize = Query("pageSize", "PRAGMA page_size")
    fileprivate static let quickCheck = Query("quickCheck", "PRAGMA quick_check(1)")
}
