internal import AuthCore
internal import CSQLite
internal import Glibc

extension SQLiteLocation {
    /// As SQLite takes it.
    public var path: String {
        switch self {
        case .memory: ":memory:"
        case .file(let path): path
        }
    }

    /// Whether there is a database to look at.
    var exists: Bool {
        switch self {
        case .memory: false
        case .file(let path): access(path, F_OK) == 0
        }
    }

    /// Makes the file, readable by its owner only, and its directory, unless they are there.
    func create() throws {
        guard case .file(let path) = self else { return }
        try Self.createDirectory(of: path)
        // Not `open`: closing a descriptor of a database drops every lock that this process holds
        // on the file (fcntl(2)), also those of another store on it.
        guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
            throw StorageError.inaccessible(path: path, code: errno)
        }
    }

    private static func createDirectory(of path: String) throws {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        if mkdir(directory, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else {
            throw StorageError.inaccessible(path: directory, code: errno)
        }
        try createDirectory(of: directory)
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw StorageError.inaccessible(path: directory, code: errno)
        }
    }
}

extension Database {
    /// A connection that writes, on a database that is there and is this program's.
    static func writable(
        _ location: SQLiteLocation, settings: SQLiteSettings
    ) throws -> Database {
        let database = try Database(path: location.path, busyTimeout: settings.busyTimeout)
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
    ) throws -> Database {
        let database = try Database(path: location.path, busyTimeout: settings.busyTimeout)
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
                let mode = try first(.journalMode) { try $0.text(0) }
                guard mode == "wal" else {
                    throw StorageError.failed(statement: Query.journalMode.name, code: SQLITE_ERROR)
                }
                return
            } catch is StoreBusy {
                guard clock.now < deadline else { throw StoreBusy() }
                usleep(2_000)
            }
        }
    }
}

extension Query {
    fileprivate static let journalMode = Query("journalMode", "PRAGMA journal_mode = WAL")
}
