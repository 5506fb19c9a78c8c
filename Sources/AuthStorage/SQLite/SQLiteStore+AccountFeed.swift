internal import AuthCore
internal import Cryptography

extension SQLiteStore: AccountFeed {
    func accountEvents(after number: Int64, limit: Int) async throws -> [AccountEvent] {
        try await read {
            try $0.all(
                SQL.accountEvents, .integer(number), .limit(limit), read: AccountEvent.init(row:))
        }
    }

    func lastAccountEvent() async throws -> Int64 {
        try await read { try $0.first(SQL.lastNumber) { try $0.integer(0) } } ?? 0
    }

    func trimAccountEvents(
        before instant: Instant, limit: Int, keepingUndelivered: Bool
    ) async throws -> Int {
        try await write {
            try $0.run(
                SQL.trimEvents, .instant(instant), .limit(limit),
                .integer(keepingUndelivered ? 1 : 0))
        }
    }
}

extension SQLiteStore: DeliveryQueue {
    func hasDueEvent(at now: Instant) async throws -> Bool {
        try await read { try $0.exists(SQL.dueEvents, .instant(now), .limit(1)) }
    }

    func takeDueEvents(
        at now: Instant, until retry: Instant, limit: Int
    ) async throws -> [PendingEvent] {
        try await write { connection in
            let numbers = try connection.all(SQL.dueEvents, .instant(now), .limit(limit)) {
                try $0.integer(0)
            }
            return try numbers.compactMap { number in
                try connection.first(
                    SQL.takeEvent, .integer(number), .instant(retry), read: PendingEvent.init(row:))
            }
        }
    }

    func noteAccepted(_ number: Int64, at now: Instant) async throws -> Bool {
        try await write { try $0.run(SQL.acceptEvent, .integer(number), .instant(now)) == 1 }
    }

    func postpone(_ number: Int64, until instant: Instant) async throws {
        try await write { _ = try $0.run(SQL.postponeEvent, .integer(number), .instant(instant)) }
    }

    func deliveryStatus(limit: Int) async throws -> DeliveryStatus {
        try await read { connection in
            DeliveryStatus(
                waiting: try connection.first(SQL.waitingEvents) { try $0.integer(0) } ?? 0,
                failing: try connection.all(
                    SQL.failingEvents, .limit(limit), read: PendingEvent.init(row:)))
        }
    }
}

extension SQLiteConnection {
    /// Inserts the event, and the event of the feed, in the transaction of the change.
    /// - Parameter quota: if it was set.
    func record(
        _ event: AuditEvent, of account: AccountID, at address: String, quota: Int64? = nil
    ) throws {
        try record(event)
        let id = AccountEventID(random: RandomBytes.make(16))
        try run(
            SQL.insertAccountEvent, .id(id), .text(event.kind.rawValue), .instant(event.time),
            .id(account), .text(address), SQLValue(quota))
    }
}

private enum SQL {
    static let insertAccountEvent = Query(
        "insertAccountEvent",
        """
        INSERT INTO account_event (id, kind, time, account, address, quota)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """)

    static let accountEvents = Query(
        "accountEvents",
        """
        SELECT \(AccountEvent.columns) FROM account_event
        WHERE number > ?1 ORDER BY number LIMIT ?2
        """)

    static let lastNumber = Query(
        "lastNumber", "SELECT seq FROM sqlite_sequence WHERE name = 'account_event'")

    /// Deletes up to the first event that stays, so that numbers are missing at the old end only.
    static let trimEvents = Query(
        "trimAccountEvents",
        """
        WITH oldest AS (
            SELECT number, time, delivered FROM account_event ORDER BY number LIMIT ?2
        )
        DELETE FROM account_event WHERE number < coalesce(
            (SELECT min(number) FROM oldest WHERE time >= ?1 OR (?3 AND delivered IS NULL)),
            (SELECT max(number) + 1 FROM oldest))
        """)

    /// The first events of their addresses that were not accepted; those that were never tried
    /// come first.
    static let dueEvents = Query(
        "dueEvents",
        """
        SELECT number FROM account_event AS event
        WHERE delivered IS NULL AND due <= ?1 AND number = (
            SELECT min(number) FROM account_event AS earliest
            WHERE earliest.address = event.address AND earliest.delivered IS NULL
        )
        ORDER BY due, number LIMIT ?2
        """)

    static let takeEvent = Query(
        "takeEvent",
        """
        UPDATE account_event SET attempts = attempts + 1, due = ?2 WHERE number = ?1
        RETURNING \(PendingEvent.columns)
        """)

    static let acceptEvent = Query(
        "acceptEvent",
        "UPDATE account_event SET delivered = ?2 WHERE number = ?1 AND delivered IS NULL")

    static let postponeEvent = Query(
        "postponeEvent",
        "UPDATE account_event SET due = ?2 WHERE number = ?1 AND delivered IS NULL")

    static let waitingEvents = Query(
        "waitingEvents",
        """
        SELECT count(*) FROM (
            SELECT 1 FROM account_event WHERE delivered IS NULL LIMIT \(DeliveryStatus.countLimit)
        )
        """)

    /// An event that was never tried is due since 1970.
    static let failingEvents = Query(
        "failingEvents",
        """
        SELECT \(PendingEvent.columns) FROM account_event
        WHERE delivered IS NULL AND due > 0 ORDER BY due, number LIMIT ?1
        """)
}
