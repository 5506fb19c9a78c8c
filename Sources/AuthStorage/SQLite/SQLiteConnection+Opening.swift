internal import AuthCore
internal import CSQLite
internal import Glibc

extension SQLiteConnection {
    /// A connection that writes, on a database that is there and is this program's.
    static func writable(
        _ location: SQLiteLocation, settings: SQLiteSettings
    ) throws -> SQLiteConnection {
        let database = try SQLiteConnection(path: location.path, busyTimeout: settings.busyTimeout)
        if case .file = location { try database.enterWriteAheadLog(settings.busyTimeout) }
        try database.execute(
            script: """
                PRAGMA synchronous = FULL;
                PRAGMA foreign_keys = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                PRAGMA temp_store = MEMORY;
                PRAGMA journal_size_limit = 16777216;
                """,
            name: "configureWriter")
        return database
    }

    /// A connection that cannot write.
    ///
    /// At a million accounts nearly every lookup finds its pages outside SQLite's own cache. Mapped
    /// and without a look at every cell of a page that comes in, such a lookup costs 13 µs in place
    /// of 16, where one in a small database costs 10. The writer keeps both guards.
    static func readable(
        _ location: SQLiteLocation, settings: SQLiteSettings
    ) throws -> SQLiteConnection {
        let database = try SQLiteConnection(path: location.path, busyTimeout: settings.busyTimeout)
        try database.execute(
            script: """
                PRAGMA query_only = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA temp_store = MEMORY;
                PRAGMA mmap_size = \(max(0, settings.mappedBytes));
                """,
            name: "configureReader")
        return database
    }

    /// Switching to the log takes the file for itself and, unlike everything else, does not wait
    /// for others to let go of it. Two servers starting on a new file meet here.
    private func enterWriteAheadLog(_ patience: Duration) throws {
        let clock = ContinuousClock()
        let deadline = clock.now + patience
        while true {
            do {
                let mode = try first(SQL.journalMode) { try $0.text(0) }
                guard mode == "wal" else {
                    throw StorageError.failed(statement: SQL.journalMode.name, code: SQLITE_ERROR)
                }
                return
            } catch is StoreBusy {
                guard clock.now < deadline else { throw StoreBusy() }
                usleep(2_000)
            }
        }
    }
}

private enum SQL {
    static let journalMode = Query("journalMode", "PRAGMA journal_mode = WAL")
}
