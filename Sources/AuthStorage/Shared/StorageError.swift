internal import Glibc

/// The errors of a store, apart from being busy. The operator can fix them, but the caller cannot,
/// so they are logged, and the response is a 500 without detail.
///
/// Contains no value that was stored or looked up, so that it can be logged as it is.
public enum StorageError: Error, Equatable, Sendable {
    /// A statement failed.
    /// - Parameters:
    ///   - statement: its name in the source.
    ///   - code: the cause, in the form of the engine.
    case failed(statement: String, code: EngineCode)
    /// The program does not write such a value: the database was edited or damaged.
    case unreadable(column: String)
    /// There is a signing key with this id already.
    case duplicateKey(id: String)
    /// There is no user with the id that a new row names as its owner.
    case unknownOwner
    /// The file or its directory cannot be created or opened; `code` is `errno`.
    case inaccessible(path: String, code: Int32)
    /// SQLite cannot open an existing file; `code` is its extended result code.
    case unopened(path: String, code: Int32)
    /// No connection to a PostgreSQL server could be made; `cause` is libpq's message.
    case unconnected(name: String, cause: String)
    /// The database did not answer within this time.
    case unresponsive(after: Duration)
    /// The store was closed before the call.
    case closed
    /// Only a SQLite database is copied by this program.
    case hasItsOwnBackup
}

extension StorageError {
    /// Whether the content of the database is damaged: only a backup helps.
    public var isDamage: Bool {
        switch self {
        case .failed(_, let code): code.isDamage
        case .unopened(_, let code): EngineCode.sqlite(code).isDamage
        case .unreadable: true
        case .duplicateKey, .unknownOwner, .inaccessible, .unconnected, .unresponsive, .closed,
            .hasItsOwnBackup:
            false
        }
    }
}

extension StorageError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .failed(let statement, let code):
            "\(code.words) (\(code) for '\(statement)')"
        case .unreadable(let column): "a stored value of \(column) cannot be read"
        case .duplicateKey(let id): "there is a signing key with the id \(id) already"
        case .unknownOwner: "there is no user with the id of this owner"
        case .inaccessible(let path, let code):
            "\(path) cannot be made or opened: \(String(cString: strerror(code)))"
        case .unopened(let path, let code):
            "\(path) cannot be opened: \(EngineCode.sqlite(code).words)"
                + " (\(EngineCode.sqlite(code)))"
        case .unconnected(let name, let cause): "no connection to \(name): \(cause)"
        case .unresponsive(let limit): "the database gave no answer within \(limit)"
        case .closed: "the store is closed"
        case .hasItsOwnBackup:
            "PostgreSQL has its own backups: use pg_dump, or base backups with archived WAL"
                + " (docs/operators.md, \"Backups of PostgreSQL\")"
        }
    }
}
