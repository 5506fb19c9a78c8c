internal import AuthCore

extension PostgresStore: ChallengeLedger {
    /// A mark with the id of this write was made by it before its connection was lost.
    func spend(_ id: String, expiry: Instant) async throws -> Bool {
        try await perform(
            PostgresWrite(
                [
                    PostgresStatement(
                        SQL.spend, .text(id), .instant(expiry), .uuid(WriteID.make(at: expiry)))
                ], repetition: .harmless, read: { $0[0].changes == 1 }))
    }

    func hold(_ id: String, until expiry: Instant, at now: Instant) async throws -> Bool {
        try await perform(
            PostgresWrite(
                [
                    PostgresStatement(
                        SQL.hold, .text(id), .instant(expiry), .uuid(WriteID.make(at: expiry)),
                        .instant(now), .instant(expiry.advanced(by: TokenAuthority.clockSkew)))
                ], repetition: .harmless, read: { $0[0].changes == 1 }))
    }

    func end(_ id: String, expiry: Instant, recording event: AuditEvent) async throws -> Bool {
        try await change(
            SQL.end, .text(id), .instant(expiry), .uuid(WriteID.make(at: expiry)), recording: event)
    }

    /// Not repeated: another client may have spent the challenge again in the meantime.
    func restore(_ id: String) async throws {
        try await perform(
            PostgresWrite(
                [PostgresStatement(SQL.restore, .text(id))], repetition: .never, read: { _ in }))
    }

    func sweep(before instant: Instant, limit: Int) async throws -> Int {
        try await perform(
            PostgresWrite(
                [PostgresStatement(SQL.sweep, .instant(instant), .limit(limit))],
                repetition: .harmless, read: { $0[0].changes }))
    }
}

private enum SQL {
    private static let insertMark = """
        INSERT INTO spent_challenge (id, expiry, write_id) VALUES ($1, $2, $3)
        ON CONFLICT (id) DO UPDATE SET expiry = spent_challenge.expiry
        WHERE spent_challenge.write_id = excluded.write_id
        """

    static let spend = Query("spend", insertMark)

    static let end = Query.recording("end", 3, "changed AS (\(insertMark) RETURNING 1)")

    static let hold = Query(
        "hold",
        """
        INSERT INTO spent_challenge (id, expiry, write_id) VALUES ($1, $2, $3)
        ON CONFLICT (id) DO UPDATE SET expiry = excluded.expiry, write_id = excluded.write_id
        WHERE spent_challenge.expiry <= $4 OR spent_challenge.expiry > $5
        OR spent_challenge.write_id = excluded.write_id
        """)

    static let restore = Query("restore", "DELETE FROM spent_challenge WHERE id = $1")

    /// Rows that another server is removing are skipped. The ids are an array, because the planner
    /// does not know that there are few rows, and would read the whole table for a join.
    static let sweep = Query(
        "sweep",
        """
        DELETE FROM spent_challenge WHERE id = ANY (ARRAY(
            SELECT id FROM spent_challenge WHERE expiry < $1 ORDER BY expiry LIMIT $2
            FOR UPDATE SKIP LOCKED
        ))
        """)
}
