public import AuthCore

/// The database that a URL names. Opens its stores, applies its migrations, backs it up.
///
/// To add an engine, add a case to `Engine` and a folder beside SQLite.
public struct Database: Equatable, Sendable {
    private enum Engine: Equatable {
        case sqlite(SQLiteLocation)
    }

    private let engine: Engine

    /// The URLs that ``init(url:)`` accepts, for messages.
    public static let acceptedURLs = "\"sqlite:<path>\" or \"sqlite::memory:\""

    /// - Parameter url: the value of the setting `storage.url`.
    /// - Throws: ``DatabaseURLError`` when the URL is not one of ``acceptedURLs``.
    public init(url: String) throws(DatabaseURLError) {
        guard let location = SQLiteLocation(url: url) else { throw DatabaseURLError(url: url) }
        engine = .sqlite(location)
    }

    private init(_ engine: Engine) {
        self.engine = engine
    }

    /// A database in this process's memory, which exists until its stores are closed.
    public static let inMemory = Database(.sqlite(.memory))

    /// The database in a storage directory, for when no URL is configured.
    public static func inDirectory(_ path: String) -> Database {
        Database(.sqlite(.file("\(path)/postern.db")))
    }

    /// The URL that ``init(url:)`` reads as this database.
    public var url: String {
        switch engine {
        case .sqlite(let location): location.url
        }
    }

    /// How messages to an operator name the database: the path of its file.
    public var name: String {
        switch engine {
        case .sqlite(let location): location.path
        }
    }

    /// Whether no other process can reach the database.
    public var isInMemory: Bool { self == .inMemory }

    /// Whether the database is not there and ``open(observers:at:)`` would create it. `false` when
    /// its directory cannot be read: then opening says why.
    public var isMissing: Bool {
        switch engine {
        case .sqlite(let location): location.isMissing
        }
    }

    /// Opens the stores. Creates the database when it is missing and applies pending migrations.
    /// Blocks until that is done.
    /// - Parameter now: recorded with each migration that is applied.
    /// - Throws: ``MigrationError`` when the database is not for this program, `StoreBusy` or
    ///   ``StorageError`` when it cannot be opened.
    public func open(
        observers: StoreObservers = StoreObservers(), at now: Instant
    ) async throws -> Stores {
        switch engine {
        case .sqlite(let location):
            try SQLiteStore.open(location, observers: observers, at: now).stores
        }
    }

    /// Opens a new, empty database in memory. Unlike ``open(observers:at:)`` it can be called where
    /// nothing can be awaited, such as the initialiser of a test.
    package static func openInMemory() throws -> Stores {
        try SQLiteStore.open(.memory, at: Instant(milliseconds: 0)).stores
    }

    /// Returns which migrations are applied and which are pending. Changes nothing.
    public func migrationStatus() async throws -> MigrationStatus {
        switch engine {
        case .sqlite(let location): try SQLiteMigrator(location).status()
        }
    }

    /// Creates the database when it is missing and applies pending migrations.
    /// - Parameter now: recorded with each migration.
    /// - Returns: the migrations that this call applied, in order.
    public func migrate(at now: Instant) async throws -> [Migration] {
        switch engine {
        case .sqlite(let location): try SQLiteMigrator(location).migrate(at: now)
        }
    }

    /// Copies the database to a new file, while servers use it. Blocks until that is done.
    ///
    /// The copy holds everything that was acknowledged before it began, and nothing later. It is
    /// not migrated, its integrity has been checked, and only its owner may read it.
    /// - Parameter onProgress: called every few pages; an error that it throws ends the copy.
    /// - Throws: ``MigrationError/foreign(path:)`` for another program's database,
    ///   ``StorageError`` when it cannot be read or copied. A partial copy is left at `path`.
    public func backUp(
        to path: String, onProgress: (BackupProgress) throws -> Void = { _ in }
    ) throws {
        switch engine {
        case .sqlite(let location):
            try SQLiteBackup(of: location).write(to: path, onProgress: onProgress)
        }
    }
}

/// A `storage.url` that names no database that this program can open.
public struct DatabaseURLError: Error, Equatable, CustomStringConvertible {
    public let url: String

    public var description: String {
        "\"\(url)\" names no database; expected \(Database.acceptedURLs)"
    }
}
