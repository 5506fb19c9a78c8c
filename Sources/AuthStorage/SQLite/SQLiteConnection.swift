internal import AuthCore
internal import CSQLite

/// One SQLite connection and its prepared statements.
///
/// Not `Sendable`: it lives inside one ``Connection``. Every statement is prepared once and kept.
/// Trouble is thrown, as `StoreBusy` where SQLite says busy or locked, as `StoreFull` where the
/// disk is full, and as ``StorageError/failed(statement:code:)`` otherwise; an empty answer always
/// means that SQLite looked and there was nothing.
final class SQLiteConnection {
    let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    /// What the transaction that is open has put on record.
    var events: [AuditEvent] = []

    /// - Parameter path: of a file that is there, or `:memory:`.
    init(path: String, busyTimeout: Duration) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            // SQLite gives a handle even for most failures, and it has to be closed.
            sqlite3_close_v2(handle)
            throw StorageError.unopened(path: path, code: code)
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, busyTimeout.wholeMilliseconds)
        _ = csqlite_defend(handle)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// `false` also after SQLite itself has rolled a transaction back (full disk, no memory).
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs a script of several statements that take no parameters and give no rows.
    func execute(script: String, name: String) throws {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw Self.failure(code, in: name) }
    }

    /// Runs `query` to its end.
    /// - Returns: how many rows it inserted, updated or deleted.
    @discardableResult
    func run(_ query: Query, _ values: SQLValue...) throws -> Int {
        try rows(query, values) { _ in }
        return Int(sqlite3_changes64(handle))
    }

    /// - Returns: the first row as `read` sees it, `nil` when there is none.
    func first<T>(
        _ query: Query, _ values: SQLValue..., read: (Row) throws -> T
    ) throws -> T? {
        try rows(query, values, read: read).first
    }

    /// Whether `query` gives a row.
    func exists(_ query: Query, _ values: SQLValue...) throws -> Bool {
        try !rows(query, values) { _ in }.isEmpty
    }

    func all<T>(
        _ query: Query, _ values: SQLValue..., read: (Row) throws -> T
    ) throws -> [T] {
        try rows(query, values, read: read)
    }

    @discardableResult
    func rows<T>(
        _ query: Query, _ values: [SQLValue], read: (Row) throws -> T
    ) throws -> [T] {
        let statement = try prepared(query)
        defer {
            // The code that it repeats has been thrown by then.
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            let code = Self.bind(value, to: statement, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw Self.failure(code, in: query.name) }
        }
        var found: [T] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: found.append(try read(Row(statement: statement)))
            case SQLITE_DONE: return found
            case let code: throw Self.failure(code, in: query.name)
            }
        }
    }

    private func prepared(_ query: Query) throws -> OpaquePointer {
        if let statement = statements[query.name] { return statement }
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = sqlite3_prepare_v3(handle, query.sql, -1, flags, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw Self.failure(code, in: query.name) }
        statements[query.name] = statement
        return statement
    }

    private static func bind(
        _ value: SQLValue, to statement: OpaquePointer, at index: Int32
    ) -> Int32 {
        switch value {
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .null: return sqlite3_bind_null(statement, index)
        case .text(var text):
            return text.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) { characters in
                    csqlite_bind_text(
                        statement, index, characters.baseAddress,
                        Int32(clamping: characters.count))
                }
            }
        case .blob(let bytes):
            return bytes.withUnsafeBytes { raw in
                csqlite_bind_blob(statement, index, raw.baseAddress, Int32(clamping: raw.count))
            }
        }
    }

    /// `SQLITE_IOERR_SHMSIZE`, which C computes in a macro.
    private static let logIndexHasNoRoom: Int32 = SQLITE_IOERR | 19 << 8

    static func failure(_ code: Int32, in statement: String) -> any Error {
        switch code & 0xff {
        // PROTOCOL: many connections fought for the log's locks and this one gave up.
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: StoreBusy()
        case SQLITE_FULL: StoreFull()
        case SQLITE_IOERR where code == logIndexHasNoRoom: StoreFull()
        default: StorageError.failed(statement: statement, code: code)
        }
    }
}

extension Duration {
    /// For C interfaces that count in `int`; clamped, never less than nothing.
    fileprivate var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        if seconds < 0 { return 0 }
        guard seconds < Int64(Int32.max) / 1000 else { return .max }
        return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
