public import AuthCore

/// The result of inspecting a database without changing it.
public struct DatabaseInspection: Equatable, Sendable {
    /// A PostgreSQL server.
    public struct Server: Equatable, Sendable {
        public let version: String
        public let clock: Instant
    }

    /// The most problems that are listed.
    static let problemLimit = 20

    /// Migrations that were applied, and those that this program would apply.
    public let applied: Int
    public let pending: Int
    /// Damage, in the words of SQLite. A PostgreSQL server checks itself.
    public let problems: [String]
    /// `nil` for SQLite.
    public let server: Server?
}
