internal import AuthCore

extension SQLiteStore: ChallengeLedger {
    func spend(_ id: String, expiry: Instant) async throws -> Bool {
        try await write { try $0.run(SQL.spend, .text(id), .instant(expiry)) == 1 }
    }

    func hold(_ id: String, until expiry: Instant, at now: Instant) async throws -> Bool {
        try await write {
            try $0.run(
                SQL.hold, .text(id), .instant(expiry), .instant(now),
                .instant(expiry.advanced(by: TokenAuthority.clockSkew))) == 1
        }
    }

    func end(_ id: String, expiry: Instant, recording event: AuditEvent) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.spend, .text(id), .instant(expiry)) == 1
        }
    }

    func restore(_ id: String) async throws {
        _ = try await write { try $0.run(SQL.restore, .text(id)) }
    }

    func sweep(before instant: Instant, limit: Int) async throws -> Int {
        try await write { try $0.run(SQL.sweep, .instant(instant), .limit(limit)) }
    }
}

private enum SQL {
    /// Inserts a row once per id.
    static let spend = Query(
        "spend", "INSERT INTO spent_challenge (id, expiry) VALUES (?1, ?2) ON CONFLICT DO NOTHING")

    static let hold = Query(
        "hold",
        """
        INSERT INTO spent_challenge (id, expiry) VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET expiry = excluded.expiry WHERE expiry <= ?3 OR expiry > ?4
        """)

    static let restore = Query(
        "restore", "DELETE FROM spent_challenge WHERE id = ?1")

    static let sweep = Query(
        "sweep",
        """
        DELETE FROM spent_challenge WHERE id IN
        (SELECT id FROM spent_challenge WHERE expiry < ?1 ORDER BY expiry LIMIT ?2)
        """)
}
