internal import AuthCore

extension SQLiteStore: AuditLog {
    func append(_ event: AuditEvent) async throws {
        try await write { try $0.record(event) }
    }

    func hasLoggedIn(
        _ name: LoginName, from network: String, since instant: Instant
    ) async throws -> Bool {
        try await read {
            try $0.exists(
                SQL.loginSince, .text(name.subject), .text(network), .instant(instant),
                .text(name.actorPrefix))
        }
    }

    func events(after sequence: Int64?, limit: Int) async throws -> [AuditRecord] {
        // Numbers begin at 1.
        let start = sequence ?? 0
        return try await read {
            try $0.all(
                SQL.eventsAfter, .integer(start), .limit(limit), read: AuditRecord.init(row:))
        }
    }

    func latestEvents(limit: Int) async throws -> [AuditRecord] {
        try await read {
            try $0.all(SQL.latestEvents, .limit(limit), read: AuditRecord.init(row:))
        }.reversed()
    }

    func trim(before instant: Instant, limit: Int) async throws -> Int {
        try await write { try $0.run(SQL.trimEvents, .instant(instant), .limit(limit)) }
    }
}

extension SQLiteConnection {
    /// Inserts the event, in the transaction that makes the change, or counts it in the record of
    /// an earlier one.
    func record(_ event: AuditEvent) throws {
        let network = event.network
        if try !fold(event, of: network) {
            try run(
                SQL.recordEvent, .text(event.kind.rawValue), .instant(event.time),
                .text(event.actor.description), .text(event.subject), .text(event.client),
                .text(event.requestID), .text(network), SQLValue(event.minute))
        }
        note(event)
    }

    /// - Returns: `false` when the event has to be inserted. An upsert would use up a number for
    ///   each event that it counts.
    private func fold(_ event: AuditEvent, of network: String) throws -> Bool {
        guard let minute = event.minute else { return false }
        return try run(
            SQL.foldEvent, .text(event.kind.rawValue), .text(event.subject), .text(network),
            .integer(minute)) == 1
    }
}

private enum SQL {
    static let recordEvent = Query(
        "recordEvent",
        """
        INSERT INTO audit (kind, time, actor, subject, client, request_id, network, minute)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """)

    static let foldEvent = Query(
        "foldEvent",
        """
        UPDATE audit SET count = count + 1
        WHERE kind = ?1 AND subject = ?2 AND network = ?3 AND minute = ?4
        """)

    /// Among the last thousand logins, because others may have logged in under the same name in
    /// another API, as often as they liked.
    static let loginSince = Query(
        "loginSince",
        """
        SELECT 1 FROM (
            SELECT actor FROM audit
            WHERE kind = 'login_succeeded' AND subject = ?1 AND network = ?2 AND time >= ?3
            ORDER BY time DESC LIMIT 1000)
        WHERE instr(actor, ?4) = 1
        LIMIT 1
        """)

    static let eventsAfter = Query(
        "eventsAfter",
        "SELECT \(AuditRecord.columns) FROM audit WHERE sequence > ?1 ORDER BY sequence LIMIT ?2")

    static let latestEvents = Query(
        "latestEvents", "SELECT \(AuditRecord.columns) FROM audit ORDER BY sequence DESC LIMIT ?1")

    /// Deletes up to the first event that is not older, so that no gap appears between events when
    /// servers' clocks differ.
    static let trimEvents = Query(
        "trimEvents",
        """
        WITH oldest AS (SELECT sequence, time FROM audit ORDER BY sequence LIMIT ?2)
        DELETE FROM audit WHERE sequence < coalesce(
            (SELECT min(sequence) FROM oldest WHERE time >= ?1),
            (SELECT max(sequence) + 1 FROM oldest))
        """)
}
