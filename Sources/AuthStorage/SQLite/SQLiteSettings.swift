/// What an operator may tune about a SQLite store.
struct SQLiteSettings: Equatable, Sendable {
    /// Connections that only read. A database in memory has none: its writer reads.
    var readers = 2
    /// How much of the file readers see through a mapping of memory; beyond it, and everywhere when
    /// it is 0, they read page by page. A disk that cannot read a mapped page ends the process.
    var mappedBytes = 1 << 30
    /// Calls that may wait for the writer, and for each reader. Beyond: `StoreBusy`.
    var depth = 1024
    /// How long to wait for a lock that another process holds. Beyond: `StoreBusy`.
    var busyTimeout: Duration = .seconds(2)
    /// How long ``SQLiteStore/ping()`` waits for an answer.
    var pingTimeout: Duration = .seconds(1)
}
