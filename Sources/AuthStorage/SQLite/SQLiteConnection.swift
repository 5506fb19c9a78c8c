internal import AuthCore
internal import CSQLite
internal import Scheduling

/// One SQLite connection and its prepared statements.
///
/// Not `Sendable`: a connection that is in use belongs to one ``ConnectionQueue``. Every statement
/// is prepared once and kept. Errors are thrown: `StoreBusy` where SQLite says busy or locked,
/// `StoreFull` where the disk is full, ``StorageError`` otherwise. An empty result always means
/// that SQLite has searched and found nothing.
final class SQLiteConnection {
    /// For SQLite's backup functions, which take two connections.
    let handle: OpaquePointer
    private let times: StatementTimes?
    private var statements: [String: Prepared] = [:]
    /// The events recorded in the transaction that is open, or else in the last one.
    private(set) var events: [AuditEvent] = []

    private struct Prepared {
        let statement: OpaquePointer
        let time: StatementTimes.Entry?
    }

    /// Evaluated once, before SQLite is used.
    private static let memoryIsNotCounted = csqlite_count_no_memory() == SQLITE_OK

    /// - Parameters:
    ///   - path: of an existing file, or `:memory:`.
    ///   - times: where it counts its statements.
    init(path: String, busyTimeout: Duration, times: StatementTimes? = nil) throws {
        _ = Self.memoryIsNotCounted
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            // SQLite returns a handle even for most errors, and it has to be closed.
            sqlite3_close_v2(handle)
            throw StorageError.unopened(path: path, code: code)
        }
        self.handle = handle
        self.times = times
        sqlite3_busy_timeout(handle, busyTimeout.wholeMilliseconds)
        _ = csqlite_defend(handle)
    }

    deinit {
        for prepared in statements.values { sqlite3_finalize(prepared.statement) }
        sqlite3_close_v2(handle)
    }

    /// `false` also after SQLite itself has rolled a transaction back (full disk, no memory).
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs `work` in one transaction: committed when it returns, rolled back when it throws.
    func transaction<T>(_ work: () throws -> T) throws -> T {
        events = []
        // IMMEDIATE takes the write lock at once. A transaction that begins as a reader and then
        // wants to write fails without waiting when another connection has written in between.
        try run(SQL.begin)
        do {
            let result = try work()
            try run(SQL.commit)
            return result
        } catch {
            // The first error is the one to report. A connection that cannot even roll back fails
            // at its next BEGIN.
            if isInTransaction { _ = try? run(SQL.rollback) }
            throw error
        }
    }

    /// Runs `work` as a part of the open transaction that can fail alone. If it throws, its own
    /// changes and events are rolled back and the transaction continues.
    /// - Throws: when the whole transaction is lost.
    func savepoint<T>(_ work: () throws -> T) throws -> Result<T, any Error> {
        try run(SQL.savepoint)
        let eventCount = events.count
        let result = Result { try work() }
        if case .failure(let error) = result {
            // SQLite rolled the whole transaction back, including its earlier changes.
            guard isInTransaction else { throw error }
            try run(SQL.undo)
            events.removeSubrange(eventCount...)
        }
        try run(SQL.release)
        return result
    }

    /// Adds `event` to ``events``, for observers. Its row is inserted by the caller.
    func note(_ event: AuditEvent) {
        events.append(event)
    }

    /// Runs a script of several statements that take no parameters and return no rows.
    func execute(script: String, name: String) throws {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw Self.error(code, in: name) }
    }

    /// Runs `query` to its end.
    /// - Returns: how many rows it inserted, updated or deleted.
    @discardableResult
    func run(_ query: Query, _ values: SQLValue...) throws -> Int {
        _ = try rows(query, values) { _ in }
        return Int(sqlite3_changes64(handle))
    }

    /// - Returns: the first row as `read` decodes it, `nil` when there is none.
    func first<T>(_ query: Query, _ values: SQLValue..., read: (Row) throws -> T) throws -> T? {
        try rows(query, values, read: read).first
    }

    /// - Returns: whether `query` finds a row.
    func exists(_ query: Query, _ values: SQLValue...) throws -> Bool {
        try !rows(query, values) { _ in }.isEmpty
    }

    func all<T>(_ query: Query, _ values: SQLValue..., read: (Row) throws -> T) throws -> [T] {
        try rows(query, values, read: read)
    }

    private func rows<T>(
        _ query: Query, _ values: [SQLValue], read: (Row) throws -> T
    ) throws -> [T] {
        let prepared = try prepared(query)
        let statement = prepared.statement
        let elapsed = ElapsedTime()
        defer {
            // The error code that it repeats has been thrown by then.
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
            prepared.time?.record(elapsed.nanoseconds)
        }
        for (index, value) in values.enumerated() {
            let code = Self.bind(value, to: statement, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw Self.error(code, in: query.name) }
        }
        var found: [T] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: found.append(try read(Row(statement: statement)))
            case SQLITE_DONE: return found
            case let code: throw Self.error(code, in: query.name)
            }
        }
    }

    private func prepared(_ query: Query) throws -> Prepared {
        if let prepared = statements[query.name] { return prepared }
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = sqlite3_prepare_v3(handle, query.sql, -1, flags, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw Self.error(code, in: query.name) }
        let prepared = Prepared(statement: statement, time: times?.entry(of: query.name))
        statements[query.name] = prepared
        return prepared
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

    /// The error for a SQLite result code.
    /// - Parameter statement: the name of the statement, as ``Query/name``.
    static func error(_ code: Int32, in statement: String) -> any Error {
        switch code & 0xff {
        // PROTOCOL: many connections competed for the locks of the log, and this one gave up.
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: StoreBusy()
        case SQLITE_FULL: StoreFull()
        case SQLITE_IOERR where code == sharedMemorySizeError: StoreFull()
        // The only foreign keys are those of owners.
        case SQLITE_CONSTRAINT where code == foreignKeyError: StorageError.unknownOwner
        default: StorageError.failed(statement: statement, code: .sqlite(code))
        }
    }

    /// `SQLITE_IOERR_SHMSIZE`, which C computes in a macro: there is no disk space for the index of
    /// the log.
    private static let sharedMemorySizeError: Int32 = SQLITE_IOERR | 19 << 8
    /// `SQLITE_CONSTRAINT_FOREIGNKEY`, which C computes in a macro.
    private static let foreignKeyError: Int32 = SQLITE_CONSTRAINT | 3 << 8
}

extension Duration {
    /// For C functions that take an `int`; never negative, at most `Int32.max`.
    fileprivate var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        if seconds < 0 { return 0 }
        guard seconds < Int64(Int32.max) / 1000 else { return .max }
        return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}

private enum SQL {
    static let begin = Query("begin", "BEGIN IMMEDIATE")
    static let commit = Query("commit", "COMMIT")
    static let rollback = Query("rollback", "ROLLBACK")
    static let savepoint = Query("savepoint", "SAVEPOINT one_write")
    static let undo = Query("undo", "ROLLBACK TO one_write")
    static let release = Query("release", "RELEASE one_write")
}
