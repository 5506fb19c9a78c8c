internal import AuthStorage

// The sections about what is stored.

/// `[storage]`: where the state is stored.
public struct StorageSection: Sendable {
    /// The directory of the database and the master secret; created at the first start, mode 0700.
    public var directory = "data"
    /// `sqlite:<path>`, `sqlite::memory:` or a `postgresql://` URL of libpq. The default is
    /// `sqlite:<directory>/postern.db`; in the test profile it is memory, unless this or the
    /// directory is set.
    var url: Database?
    /// The most connections to a PostgreSQL server, besides one that listens.
    public var connections = 16

    static let settings = [
        Setting("storage.directory", \.storage.directory, .path),
        Setting("storage.url", \.storage.url, database.optional),
        Setting("storage.connections", \.storage.connections, .integer(1...1000)),
    ]

    private static let database = Syntax<Database>.string(
        Database.acceptedURLs, read: { try? Database(url: $0) }, write: \.url)
}

/// `[audit]`: the audit log.
public struct AuditSection: Sendable {
    /// How long events are kept; zero keeps them without end.
    public var retention = Duration.zero

    static let settings = [
        Setting(
            "audit.retention", \.audit.retention, .duration(.zero ... .seconds(86_400 * 36_500)))
    ]
}
