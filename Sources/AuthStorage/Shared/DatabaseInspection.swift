public import AuthCore

/// What looking at a database without changing it has found.
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
    /// Damage, in SQLite's words. A PostgreSQL server looks for it by itself.
    public let problems: [String]
    /// `nil` for SQLite.
    public let server: Server?
}
