internal import CSQLite

/// How an engine reports why a statement failed.
public enum EngineCode: Equatable, Sendable {
    /// An extended result code of SQLite (sqlite.org/rescode.html).
    case sqlite(Int32)
    /// A SQLSTATE of PostgreSQL (postgresql.org/docs/current/errcodes-appendix.html).
    case sqlState(String)
}

extension EngineCode: CustomStringConvertible {
    public var description: String {
        switch self {
        case .sqlite(let code): "SQLite's code \(code)"
        case .sqlState(let state): "SQLSTATE \(state)"
        }
    }

    var isDamage: Bool {
        switch self {
        case .sqlite(let code): [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xff)
        // data_corrupted, index_corrupted
        case .sqlState(let state): ["XX001", "XX002"].contains(state)
        }
    }

    /// Whether a write failed because of the file system: an error of the disk, or a file or file
    /// system that is read-only. PostgreSQL handles errors of its disk itself.
    var isDiskFailure: Bool {
        switch self {
        case .sqlite(let code):
            [SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN].contains(code & 0xff)
        case .sqlState: false
        }
    }

    /// The error in words, with a remedy for the operator.
    var words: String {
        switch self {
        case .sqlite(let code): Self.words(forSQLite: code)
        case .sqlState(let state): Self.words(forState: state)
        }
    }

    private static func words(forSQLite code: Int32) -> String {
        switch code & 0xff {
        case SQLITE_FULL: "the disk is full; free some space on it"
        case SQLITE_CANTOPEN:
            "this user must be able to read and write the database and its directory"
        case SQLITE_READONLY:
            "the database cannot be written; this user must be able to write it and its directory"
        case SQLITE_CORRUPT: "the database is damaged; restore a backup"
        case SQLITE_IOERR: "the disk failed to read or write"
        default: String(cString: sqlite3_errstr(code))
        }
    }

    private static func words(forState state: String) -> String {
        switch state.prefix(2) {
        case "23": "a constraint of the database does not allow it"
        case "42" where state == "42501":
            "this user of the database may not do it; grant it the rights on the tables"
        case "42": "the tables of the database are not those of this program"
        case "53": "the database server lacks a resource; see its log"
        case "XX" where EngineCode.sqlState(state).isDamage:
            "the database is damaged; restore a backup"
        case "58", "XX": "the database server has failed; see its log"
        default: "the database server rejected the statement; see its log"
        }
    }
}
