internal import AuthCore

extension PostgresStore: AccountFeed {
    func accountEvents(after number: Int64, limit: Int) async throws -> [AccountEvent] {
        try await giveNumbers()
        return try await all(
            SQL.accountEvents, .integer(number), .limit(limit), read: AccountEvent.init(row:))
    }

    func lastAccountEvent() async throws -> Int64 {
        try await giveNumbers()
        return try await first(SQL.lastNumber) { try $0.integer(0) } ?? 0
    }

    func trimAccountEvents(
        before instant: Instant, limit: Int, keepingUndelivered: Bool
    ) async throws -> Int {
        try await giveNumbers()
        let trim = PostgresStatement(
            SQL.trimEvents, .instant(instant), .limit(limit), .bool(keepingUndelivered))
        return try await perform(
            PostgresWrite([trim], repetition: .harmless, read: { $0[0].changes }))
    }

    /// Numbers the events that were committed since the last numbering by any server. These
    /// transactions run one after the other.
    ///
    /// Numbers that are taken before the commit cannot be followed in order, because a transaction
    /// with a lower number may be committed later, or never. Waiting for all older transactions
    /// would let any slow one on the database's server stop the feed.
    private func giveNumbers() async throws {
        while try await exists(SQL.hasNewEvent) {
            try await perform(
                PostgresWrite(
                    [PostgresStatement(SQL.lockFeed), PostgresStatement(SQL.numberEvents)],
                    repetition: .harmless, read: { _ in }))
        }
    }
}

extension PostgresStore: DeliveryQueue {
    func hasDueEvent(at now: Instant) async throws -> Bool {
        try await giveNumbers()
        return try await exists(SQL.hasDueEvent, .instant(now))
    }

    func takeDueEvents(
        at now: Instant, until retry: Instant, limit: Int
    ) async throws -> [PendingEvent] {
        try await giveNumbers()
        let take = PostgresStatement(
            SQL.takeEvents, .instant(now), .instant(retry), .limit(limit))
        // When the connection is lost, the events may have been taken: they are due again later.
        return try await perform(
            PostgresWrite(
                [take], repetition: .never, read: { try $0[0].all(PendingEvent.init(row:)) })
        ).sorted { $0.event.number < $1.event.number }
    }

    func noteAccepted(_ number: Int64, at now: Instant) async throws -> Bool {
        try await giveNumbers()
        return try await update(
            PostgresStatement(SQL.acceptEvent, .integer(number), .instant(now)))
    }

    func postpone(_ number: Int64, until instant: Instant) async throws {
        _ = try await update(
            PostgresStatement(SQL.postponeEvent, .integer(number), .instant(instant)))
    }

    func deliveryStatus(limit: Int) async throws -> DeliveryStatus {
        try await giveNumbers()
        return DeliveryStatus(
            waiting: try await first(SQL.waitingEvents) { try $0.integer(0) } ?? 0,
            failing: try await all(
                SQL.failingEvents, .limit(limit), read: PendingEvent.init(row:)))
    }

    private func update(_ statement: PostgresStatement) async throws -> Bool {
        try await perform(
            PostgresWrite([statement], repetition: .harmless, read: { $0[0].changes == 1 }))
    }
}

private enum SQL {
    static let hasNewEvent = Query(
        "hasNewEvent", "SELECT 1 FROM account_event WHERE number IS NULL LIMIT 1")

    static let lockFeed = Query("lockFeed", "SELECT last_number FROM account_feed FOR UPDATE")

    /// Begins after the lock was acquired, so that it sees the numbers that were assigned before.
    static let numberEvents = Query(
        "numberEvents",
        """
        WITH new AS (
            SELECT sequence, row_number() OVER (ORDER BY sequence) AS place FROM (
                SELECT sequence FROM account_event WHERE number IS NULL
                ORDER BY sequence LIMIT 100
            ) AS first
        ),
        numbered AS (
            UPDATE account_event AS event SET number = feed.last_number + new.place
            FROM new, account_feed AS feed WHERE event.sequence = new.sequence
            RETURNING 1
        )
        UPDATE account_feed SET last_number = last_number + (SELECT count(*) FROM numbered)
        """)

    static let accountEvents = Query(
        "accountEvents",
        """
        SELECT \(AccountEvent.columns) FROM account_event
        WHERE number > $1 ORDER BY number LIMIT $2
        """)

    static let lastNumber = Query("lastNumber", "SELECT last_number FROM account_feed")

    /// Deletes up to the first event that stays, so that numbers are missing at the old end only.
    static let trimEvents = Query(
        "trimAccountEvents",
        """
        WITH oldest AS (
            SELECT number, time, delivered FROM account_event WHERE number IS NOT NULL
            ORDER BY number LIMIT $2
        )
        DELETE FROM account_event WHERE number < coalesce(
            (SELECT min(number) FROM oldest
             WHERE time >= $1 OR ($3::boolean AND delivered IS NULL)),
            (SELECT max(number) + 1 FROM oldest))
        """)

    /// The condition of an event that is due, and the first of its address that was not accepted.
    private static let isDue = """
        event.delivered IS NULL AND event.number IS NOT NULL AND event.due <= $1
            AND event.number = (
                SELECT min(earliest.number) FROM account_event AS earliest
                WHERE earliest.address = event.address AND earliest.delivered IS NULL
                    AND earliest.number IS NOT NULL
            )
        """

    static let hasDueEvent = Query(
        "hasDueEvent", "SELECT 1 FROM account_event AS event WHERE \(isDue) LIMIT 1")

    /// Those that were never tried come first.
    static let takeEvents = Query(
        "takeEvents",
        """
        WITH taken AS (
            SELECT event.sequence FROM account_event AS event WHERE \(isDue)
            ORDER BY event.due, event.number LIMIT $3 FOR UPDATE SKIP LOCKED
        )
        UPDATE account_event AS event SET attempts = attempts + 1, due = $2
        FROM taken WHERE event.sequence = taken.sequence
        RETURNING \(PendingEvent.columns.columns(of: "event"))
        """)

    static let acceptEvent = Query(
        "acceptEvent",
        "UPDATE account_event SET delivered = $2 WHERE number = $1 AND delivered IS NULL")

    static let postponeEvent = Query(
        "postponeEvent",
        "UPDATE account_event SET due = $2 WHERE number = $1 AND delivered IS NULL")

    static let waitingEvents = Query(
        "waitingEvents",
        """
        SELECT count(*) FROM (
            SELECT 1 FROM account_event WHERE delivered IS NULL AND number IS NOT NULL
            ORDER BY due, number LIMIT \(DeliveryStatus.countLimit)
        ) AS waiting
        """)

    /// An event that was never tried is due since 1970.
    static let failingEvents = Query(
        "failingEvents",
        """
        SELECT \(PendingEvent.columns) FROM account_event
        WHERE delivered IS NULL AND number IS NOT NULL AND due > 'epoch'
        ORDER BY due, number LIMIT $1
        """)
}
