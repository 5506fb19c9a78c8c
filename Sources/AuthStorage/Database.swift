public import AuthCore
public import Scheduling

/// The database that a URL names. Opens its stores, applies its migrations, backs it up.
///
/// To add an engine, add a case to `Engine` and a folder beside the others.
public struct Database: Equatable, Sendable {
    private enum Engine: Equatable {
        case sqlite(SQLiteLocation)
        case postgres(PostgresURL)
    }

    private let engine: Engine

    /// The URLs that ``init(url:)`` accepts, for messages.
    public static let acceptedURLs =
        "\"sqlite:<path>\", \"sqlite::memory:\" or \"postgresql://<host>/<database>\""

    /// - Parameter url: the value of the setting `storage.url`.
    /// - Throws: ``DatabaseURLError`` when the URL is not one of ``acceptedURLs``.
    public init(url: String) throws(DatabaseURLError) {
        if let location = SQLiteLocation(url: url) {
            engine = .sqlite(location)
        } else if let url = PostgresURL(url) {
            engine = .postgres(url)
        } else {
            throw DatabaseURLError(url: Self.hidingPasswords(in: url))
        }
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

    /// The URL that ``init(url:)`` reads as this database, without its passwords.
    public var url: String {
        switch engine {
        case .sqlite(let location): location.url
        case .postgres(let url): url.shown
        }
    }

    /// How messages to an operator name the database: the path of its file, or its URL without
    /// passwords.
    public var name: String {
        switch engine {
        case .sqlite(let location): location.path
        case .postgres(let url): url.shown
        }
    }

    /// A text that may be a URL of a database, without the parts that may be a password.
    public static func hidingPasswords(in text: String) -> String {
        PostgresURL.hidingPasswords(in: text)
    }

    /// Whether the database is on a database server, which several servers may share.
    public var isRemote: Bool {
        switch engine {
        case .sqlite: false
        case .postgres: true
        }
    }

    /// Whether an attacker on the network could read the traffic with the database or answer in its
    /// place.
    public var isExposed: Bool {
        switch engine {
        case .sqlite: false
        case .postgres(let url): url.isExposed
        }
    }

    /// Whether the URL has a password.
    public var hasPassword: Bool {
        switch engine {
        case .sqlite: false
        case .postgres(let url): url.shown != url.text
        }
    }

    /// Whether no other process can reach the database.
    public var isInMemory: Bool { self == .inMemory }

    /// Whether the database does not exist and ``open(observers:at:)`` would create it. `false` if
    /// its directory cannot be read; opening then reports the cause.
    public var isMissing: Bool {
        switch engine {
        case .sqlite(let location): location.isMissing
        case .postgres: false
        }
    }

    /// Whether the database is a file of 0 bytes: one that is being created, or that was damaged.
    public var isEmptyFile: Bool {
        switch engine {
        case .sqlite(let location): location.isEmptyFile
        case .postgres: false
        }
    }

    /// Refuses a database that exists and cannot be written, for example on a read-only file
    /// system. SQLite would open it to read only, and would not write it later either.
    /// - Throws: ``StorageError/inaccessible(path:code:)``.
    public func checkWritable() throws {
        switch engine {
        case .sqlite(let location): try location.checkWritable()
        case .postgres: break
        }
    }

    /// Opens the stores. Creates the database when it is missing and applies pending migrations.
    /// Blocks until that is done.
    /// - Parameters:
    ///   - connections: the most connections to a database server; opened when they are needed.
    ///   - loops: they wait for a database server, and have its connections; by default one that
    ///     all databases share which are opened so.
    ///   - shares: the part of the calls that wait for a connection that one client or site may
    ///     have.
    ///   - now: recorded with each migration that is applied.
    /// - Throws: ``MigrationError`` when the database is not for this program, `StoreBusy` or
    ///   ``StorageError`` when it cannot be opened.
    public func open(
        connections: Int = 2, on loops: [EventLoop]? = nil, shares: WorkerPool.Shares = .ofQueue,
        observers: StoreObservers = StoreObservers(), at now: Instant
    ) async throws -> Stores {
        switch engine {
        case .sqlite(let location):
            return try SQLiteStore.open(location, observers: observers, at: now).stores
        case .postgres(let url):
            var settings = PostgresSettings()
            settings.connections = connections
            settings.shares = shares
            return try await PostgresStore.open(
                url, on: loops, settings: settings, observers: observers, at: now
            ).stores
        }
    }

    /// Opens a new, empty database in memory. Unlike ``open(observers:at:)`` it can be called in
    /// synchronous code, such as the initialiser of a test.
    package static func openInMemory() throws -> Stores {
        try SQLiteStore.open(.memory, at: Instant(milliseconds: 0)).stores
    }

    /// Returns which migrations are applied and which are pending. Changes nothing.
    public func migrationStatus() async throws -> MigrationStatus {
        switch engine {
        case .sqlite(let location): try SQLiteMigrator(location).status()
        case .postgres(let url): try PostgresMigrator(url).status()
        }
    }

    /// Checks the integrity and the schema. Changes nothing, and may be called while servers use
    /// the database. Blocks until it is done, which takes long for a large SQLite database.
    /// - Throws: ``MigrationError`` when the database is not for this program, `StoreBusy` or
    ///   ``StorageError`` when it cannot be read.
    public func inspect() throws -> DatabaseInspection {
        switch engine {
        case .sqlite(let location): try SQLiteInspector(location: location).inspect()
        case .postgres(let url): try PostgresInspector(url: url).inspect()
        }
    }

    /// Creates the database when it is missing and applies pending migrations.
    /// - Parameter now: recorded with each migration.
    /// - Returns: the migrations that this call applied, in order.
    public func migrate(at now: Instant) async throws -> [Migration] {
        switch engine {
        case .sqlite(let location): try SQLiteMigrator(location).migrate(at: now)
        case .postgres(let url): try PostgresMigrator(url).migrate(at: now)
        }
    }

    /// Copies the database to a new file, while servers use it. Blocks until that is done.
    ///
    /// The copy contains all changes that were acknowledged before it began, and no later ones. It
    /// is not migrated, its integrity has been checked, and only its owner may read it.
    /// - Parameter onProgress: called every few pages; an error that it throws ends the copy.
    /// - Throws: ``MigrationError/foreign(path:)`` for another program's database,
    ///   ``StorageError`` when it cannot be read or copied. A partial copy is left at `path`.
    public func backUp(
        to path: String, onProgress: (BackupProgress) throws -> Void = { _ in }
    ) throws {
        switch engine {
        case .sqlite(let location):
            try SQLiteBackup(of: location).write(to: path, onProgress: onProgress)
        case .postgres: throw StorageError.hasItsOwnBackup
        }
    }
}

extension Database {
    /// Copies this SQLite database into a PostgreSQL database, and compares the two. Blocks until
    /// that is done. After a break it can be called again.
    ///
    /// Servers must be stopped, because later writes are not copied.
    /// - Parameters:
    ///   - now: recorded with each migration that is applied to the target.
    ///   - onProgress: called every few hundred rows; an error that it throws ends the copy.
    /// - Returns: the tables and how many rows each has.
    /// - Throws: ``CopyError``, ``MigrationError`` or ``StorageError``.
    public func copy(
        to target: Database, at now: Instant,
        onProgress: (CopyProgress) throws -> Void = { _ in }
    ) throws -> [CopiedRows] {
        guard case .sqlite(let source) = engine, case .postgres(let url) = target.engine else {
            throw CopyError.wrongEngines
        }
        return try DatabaseCopy(from: source, to: url).run(at: now, onProgress: onProgress)
    }
}

/// A `storage.url` that names no database that this program can open.
public struct DatabaseURLError: Error, Equatable, CustomStringConvertible {
    /// Without passwords.
    public let url: String

    public var description: String {
        "\"\(url)\" names no database; expected \(Database.acceptedURLs)"
    }
}
