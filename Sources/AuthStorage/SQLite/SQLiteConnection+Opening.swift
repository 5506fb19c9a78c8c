internal import AuthCore
internal import CSQLite
internal import Glibc

extension SQLiteConnection {
    /// Opens a connection that can write, to an existing database of this program.
    static func writable(
        _ location: SQLiteLocation, settings: SQLiteSettings, times: StatementTimes? = nil
    ) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: location.path, busyTimeout: settings.busyTimeout, times: times)
        if case .file = location { try connection.enterWriteAheadLog(settings.busyTimeout) }
        try connection.execute(
            script: """
                PRAGMA synchronous = FULL;
                PRAGMA foreign_keys = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                PRAGMA temp_store = MEMORY;
                PRAGMA journal_size_limit = 16777216;
                """,
            name: "configureWriter")
        return connection
    }

    /// Opens a connection that cannot write.
    ///
    /// It maps the file into memory and does not check the cells of each page that it reads. With a
    /// million accounts most lookups need pages that are not in SQLite's own cache. Measured, such
    /// a lookup takes 13 µs with the mapping and 16 µs without, and 10 µs in a small database. The
    /// writer reads without the mapping and with the check.
    static func readable(
        _ location: SQLiteLocation, settings: SQLiteSettings, times: StatementTimes? = nil
    ) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: location.path, busyTimeout: settings.busyTimeout, times: times)
        try connection.execute(
            script: """
                PRAGMA query_only = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA temp_store = MEMORY;
                PRAGMA mmap_size = \(max(0, settings.mappedBytes));
                """,
            name: "configureReader")
        return connection
    }

    /// Switching to the log locks the whole file and, unlike other statements, does not wait for
    /// locks. So two servers that start on a new file at the same time retry here.
    private func enterWriteAheadLog(_ patience: Duration) throws {
        let clock = ContinuousClock()
        let deadline = clock.now + patience
        while true {
            do {
                let mode = try first(SQL.journalMode) { try $0.text(0) }
                guard mode == "wal" else {
                    throw StorageError.failed(
                        statement: SQL.journalMode.name, code: .sqlite(SQLITE_ERROR))
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
