public import AuthCore

extension SQLiteStore: ChallengeLedger {
    public func spend(_ id: String, expiry: Instant) async throws -> Bool {
        try await write { try $0.run(.spend, .text(id), .instant(expiry)) == 1 }
    }

    public func restore(_ id: String) async throws {
        _ = try await write { try $0.run(.restore, .text(id)) }
    }

    public func sweep(before instant: Instant, limit: Int) async throws -> Int {
        try await write { try $0.run(.sweep, .instant(instant), .limit(limit)) }
    }
}

extension Query {
    /// Of any number of runs with one id, one inserts.
    fileprivate static let spend = Query(
        "spend", "INSERT INTO spent_challenge (id, expiry) VALUES (?1, ?2) ON CONFLICT DO NOTHING")

    fileprivate static let restore = Query(
        "restore", "DELETE FROM spent_challenge WHERE id = ?1")

    fileprivate static let sweep = Query(
        "sweep",
        """
        DELETE FROM spent_challenge WHERE id IN
        (SELECT id FROM spent_challenge WHERE expiry < ?1 ORDER BY expiry LIMIT ?2)
        """)
}
