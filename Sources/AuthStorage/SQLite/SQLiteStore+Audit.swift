internal import AuthCore

extension SQLiteStore: AuditLog {
    func append(_ event: AuditEvent) async throws {
        try await write { try $0.record(event) }
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
    /// Inserts the event, in the transaction that makes the change.
    func record(_ event: AuditEvent) throws {
        try run(
            SQL.recordEvent, .text(event.kind.rawValue), .instant(event.time),
            .text(event.actor.description),
            .text(event.subject), .text(event.client), .text(event.requestID))
        note(event)
    }
}

extension AuditRecord {
    fileprivate init(row: Row) throws {
        self.init(
            sequence: try row.integer(0),
            event: AuditEvent(
                try row.parsed(1, AuditEvent.Kind.init), time: try row.instant(2),
                actor: try row.parsed(3, { AuditEvent.Actor($0) }), subject: try row.text(4),
                client: try row.text(5),
                requestID: try row.text(6)))
    }
}

private enum SQL {
    static let eventColumns = "sequence, kind, time, actor, subject, client, request_id"

    static let recordEvent = Query(
        "recordEvent",
        """
        INSERT INTO audit (kind, time, actor, subject, client, request_id)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """)

    static let eventsAfter = Query(
        "eventsAfter",
        "SELECT \(eventColumns) FROM audit WHERE sequence > ?1 ORDER BY sequence LIMIT ?2")

    static let latestEvents = Query(
        "latestEvents", "SELECT \(eventColumns) FROM audit ORDER BY sequence DESC LIMIT ?1")

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
