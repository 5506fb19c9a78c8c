internal import AuthCore

extension PostgresStore: AuditLog {
    func append(_ event: AuditEvent) async throws {
        let write: PostgresWrite<Void>
        if let minute = event.minute {
            // The record may be that of another event, so it cannot show whether this one was
            // counted.
            write = PostgresWrite(
                [PostgresStatement(SQL.countEvent, event.values(nil) + [.integer(minute)])],
                repetition: .never, read: { _ in })
        } else {
            let id = WriteID.make(at: event.time)
            write = PostgresWrite(
                [PostgresStatement(SQL.appendEvent, event.values(id))],
                repetition: .provable(PostgresWrite<Void>.proof(id), done: ()), read: { _ in })
        }
        try await perform(write)
        report(event)
    }

    func hasLoggedIn(
        _ name: LoginName, from network: String, since instant: Instant
    ) async throws -> Bool {
        try await exists(
            SQL.loginSince, .text(name.subject), .text(network), .instant(instant),
            .text(name.actorPrefix))
    }

    func events(after sequence: Int64?, limit: Int) async throws -> [AuditRecord] {
        // Numbers begin at 1.
        let start = sequence ?? 0
        let rows = try await all(SQL.eventsAfter, .integer(start), .limit(limit)) { row in
            (record: try AuditRecord(row: row), isRecent: try row.bool(AuditRecord.columnCount))
        }
        // Numbers are given when an event is inserted, and transactions may commit in another
        // order. A reader who continues after the last number must not miss one.
        var last = start
        var records: [AuditRecord] = []
        for row in rows {
            if row.isRecent, row.record.sequence > last &+ 1 { break }
            last = row.record.sequence
            records.append(row.record)
        }
        return records
    }

    func latestEvents(limit: Int) async throws -> [AuditRecord] {
        try await all(SQL.latestEvents, .limit(limit), read: AuditRecord.init(row:)).reversed()
    }

    func trim(before instant: Instant, limit: Int) async throws -> Int {
        try await perform(
            PostgresWrite(
                [PostgresStatement(SQL.trimEvents, .instant(instant), .limit(limit))],
                repetition: .harmless, read: { $0[0].changes }))
    }
}

extension PostgresStore {
    /// Makes a change that one event records: the event is there exactly when the change is.
    /// - Parameters:
    ///   - query: made by ``Query/recording(_:_:_:result:)``.
    ///   - locks: run before it.
    ///   - later: run after it.
    ///   - sessions: those that end with the change, if any, and their owner, who is locked.
    /// - Returns: whether it changed anything.
    func change(
        _ query: Query, _ values: PostgresValue..., recording event: AuditEvent,
        after locks: [PostgresStatement] = [], before later: [PostgresStatement] = [],
        ending sessions: (others: OtherSessions?, owner: UserID)? = nil
    ) async throws -> Bool {
        try await record(
            event, query, values, after: locks, before: later, ending: sessions, ifMade: true,
            read: { try $0.integer(0) > 0 }, isMade: { $0 })
    }

    /// Like ``change(_:_:recording:after:before:ending:)``, with another type of result.
    /// - Parameters:
    ///   - made: the result if it turns out that the change was made before.
    ///   - read: reads the result from the query's row.
    ///   - isMade: whether a result means that the event was recorded.
    ///   - attempted: the id of the write if it was sent before and may have been made.
    func record<Value: Sendable>(
        _ event: AuditEvent, _ query: Query, _ values: [PostgresValue],
        after locks: [PostgresStatement] = [], before later: [PostgresStatement] = [],
        ending sessions: (others: OtherSessions?, owner: UserID)? = nil, ifMade made: Value,
        read: @escaping @Sendable (PostgresRow) throws -> Value,
        isMade: (Value) -> Bool, attempted: [UInt8]? = nil
    ) async throws -> Value {
        let id = attempted ?? WriteID.make(at: event.time)
        let main = PostgresStatement(query, values + event.values(id))
        let end = sessions.flatMap { sessions in
            sessions.others.map { PostgresStatement.ending($0, of: sessions.owner, after: id) }
        }
        let index = locks.count
        let (value, hasEnded) = try await perform(
            PostgresWrite(
                locks + [main] + later + [end].compactMap(\.self),
                repetition: .provable(
                    PostgresWrite<Value>.proof(id), done: (made, hasEnded: false)),
                read: { results in
                    guard let value = try results[index].first(read) else {
                        throw StorageError.unreadable(column: query.name)
                    }
                    let ended = end == nil ? 0 : try results.last?.first { try $0.integer(0) }
                    return (value, hasEnded: ended ?? 0 > 0)
                }), isUncertain: attempted != nil)
        if isMade(value) { report(event) }
        if hasEnded, let others = sessions?.others { report(others.event) }
        return value
    }
}

extension PostgresWrite {
    /// Finds the event of a write.
    static func proof(_ id: [UInt8]) -> PostgresStatement {
        PostgresStatement(SQL.eventOfWrite, .uuid(id))
    }
}

extension AuditEvent {
    /// The parameters of the event, after all others of the query.
    /// - Parameter id: of the write; `nil` for an event that is counted in the record of another
    ///   event.
    func values(_ id: [UInt8]?) -> [PostgresValue] {
        [
            .text(kind.rawValue), .instant(time), .text(actor.description), .text(subject),
            .text(client), .text(requestID), .text(network), id.map { .uuid($0) } ?? .null,
        ]
    }
}

extension Query {
    /// The columns of ``recording(_:_:_:result:)``.
    static let recordedColumns =
        "kind, time, actor, subject, client, request_id, network, write_id"

    /// A query that makes a change and records an event in the same statement.
    /// - Parameters:
    ///   - parameters: the number of parameters of the change. Those of the event follow.
    ///   - change: the common table expressions of the change. The event is recorded when the one
    ///     named `changed` has a row.
    ///   - isFed: whether the event is in the feed of account events, too. Then the row of
    ///     `changed` has the `id` and the `address` of the account, and its `quota` if that was
    ///     set.
    static func recording(
        _ name: String, _ parameters: Int, _ change: String, isFed: Bool = false,
        result: String = "SELECT count(*) FROM changed"
    ) -> Query {
        let p = parameters
        let feed = """
            ,
            fed AS (
                INSERT INTO account_event (id, kind, time, account, address, quota)
                SELECT $\(p + 8)::uuid, $\(p + 1)::text, $\(p + 2)::timestamptz,
                       id, address, quota
                FROM changed LIMIT 1
            )
            """
        return Query(
            name,
            """
            WITH \(change),
            recorded AS (
                INSERT INTO audit (\(recordedColumns))
                SELECT $\(p + 1)::text, $\(p + 2)::timestamptz, $\(p + 3)::text, $\(p + 4)::text,
                       $\(p + 5)::text, $\(p + 6)::text, $\(p + 7)::text, $\(p + 8)::uuid
                FROM changed LIMIT 1
            )\(isFed ? feed : "")
            \(result)
            """)
    }
}

private enum SQL {
    static let appendEvent = Query(
        "appendEvent",
        """
        INSERT INTO audit (\(Query.recordedColumns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """)

    /// The upsert alone would use up a number for each event that it counts.
    static let countEvent = Query(
        "countEvent",
        """
        WITH counted AS (
            UPDATE audit SET count = count + 1
            WHERE kind = $1 AND subject = $4 AND network = $7 AND minute = $9
            RETURNING 1
        )
        INSERT INTO audit (\(Query.recordedColumns), minute)
        SELECT $1::text, $2::timestamptz, $3::text, $4::text, $5::text, $6::text, $7::text,
               $8::uuid, $9::bigint
        WHERE NOT EXISTS (SELECT 1 FROM counted)
        ON CONFLICT (subject, network, minute, kind) WHERE minute IS NOT NULL
        DO UPDATE SET count = audit.count + 1
        """)

    static let eventOfWrite = Query("eventOfWrite", "SELECT 1 FROM audit WHERE write_id = $1")

    /// As the one of ``SQLiteStore``.
    static let loginSince = Query(
        "loginSince",
        """
        SELECT 1 FROM (
            SELECT actor FROM audit
            WHERE kind = 'login_succeeded' AND subject = $1 AND network = $2 AND time >= $3
            ORDER BY time DESC LIMIT 1000) AS logins
        WHERE starts_with(actor, $4)
        LIMIT 1
        """)

    static let eventsAfter = Query(
        "eventsAfter",
        """
        SELECT \(AuditRecord.columns),
               time BETWEEN now() - interval '15 seconds' AND now() + interval '15 seconds'
        FROM audit WHERE sequence > $1 ORDER BY sequence LIMIT $2
        """)

    static let latestEvents = Query(
        "latestEvents", "SELECT \(AuditRecord.columns) FROM audit ORDER BY sequence DESC LIMIT $1")

    /// Deletes up to the first event that is not older, so that no gap appears between events when
    /// servers' clocks differ.
    static let trimEvents = Query(
        "trimEvents",
        """
        WITH oldest AS (SELECT sequence, time FROM audit ORDER BY sequence LIMIT $2)
        DELETE FROM audit WHERE sequence < coalesce(
            (SELECT min(sequence) FROM oldest WHERE time >= $1),
            (SELECT max(sequence) + 1 FROM oldest))
        """)
}
