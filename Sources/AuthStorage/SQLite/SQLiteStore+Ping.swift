internal import Scheduling

extension SQLiteStore {
    /// Whether the database answers, for readiness: one trivial read.
    /// - Throws: `StoreBusy` when it is locked, ``StorageError/unresponsive(after:)`` when there
    ///   is no answer within `pingTimeout` (a hung disk), or whatever else is wrong.
    func ping() async throws {
        do {
            try await withDeadline(.now + pingTimeout) {
                _ = try await self.read { try $0.first(SQL.ping) { try $0.integer(0) } }
            }
        } catch is DeadlinePassed {
            throw StorageError.unresponsive(after: pingTimeout)
        }
    }
}

private enum SQL {
    static let ping = Query("ping", "SELECT count(*) FROM schema_migration")
}
