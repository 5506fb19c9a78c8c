internal import CSQLite
internal import Glibc

/// What can be wrong with a store besides being busy. The operator can fix it, the caller cannot:
/// it is logged, and the response is a 500 without detail.
///
/// Contains no value that was stored or looked up, so that it can be logged as it is.
public enum StorageError: Error, Equatable, Sendable {
    /// A statement failed.
    /// - Parameters:
    ///   - statement: its name in the source.
    ///   - code: the extended result code (sqlite.org/rescode.html).
    case failed(statement: String, code: Int32)
    /// A stored value is not one that the program writes: the database was edited or damaged.
    case unreadable(column: String)
    /// There is a signing key with this id already.
    case duplicateKey(id: String)
    /// There is no user with the id that a new row names as its owner.
    case unknownOwner
    /// The file or its directory cannot be created or opened; `code` is `errno`.
    case inaccessible(path: String, code: Int32)
    /// SQLite cannot open an existing file; `code` is its extended result code.
    case unopened(path: String, code: Int32)
    /// The database did not answer within this time.
    case unresponsive(after: Duration)
    /// The store was closed before the call.
    case closed
}

extension StorageError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .failed(let statement, let code):
            "\(Self.words(for: code)) (SQLite's code \(code) for '\(statement)')"
        case .unreadable(let column): "a stored value of \(column) cannot be read"
        case .duplicateKey(let id): "there is a signing key with the id \(id) already"
        case .unknownOwner: "there is no user with the id of this owner"
        case .inaccessible(let path, let code):
            "\(path) cannot be made or opened: \(String(cString: strerror(code)))"
        case .unopened(let path, let code):
            "\(path) cannot be opened: \(Self.words(for: code)) (SQLite's code \(code))"
        case .unresponsive(let limit): "the database gave no answer within \(limit)"
        case .closed: "the store is closed"
        }
    }

    /// The error in words, with what the operator can do about it.
    private static func words(for code: Int32) -> String {
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
}
