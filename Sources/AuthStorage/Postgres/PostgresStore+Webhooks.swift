internal import AuthCore

extension PostgresStore: WebhookStore {
    func insert(_ webhook: Webhook, recording event: AuditEvent) async throws -> Bool {
        try await change(
            SQL.insertWebhook, .id(webhook.id), .id(webhook.owner), .text(webhook.url),
            .text(webhook.storedEvents), .bytes(webhook.sealedSecret),
            .text(webhook.status.rawValue), .integer(webhook.failures),
            PostgresValue(webhook.lastTriggered), .instant(webhook.created), recording: event)
    }

    func webhook(of owner: UserID) async throws -> Webhook? {
        try await lookUp(SQL.webhookOfOwner, .id(owner)) { try Webhook(row: $0) }
    }

    func rotateSecret(
        of id: WebhookID, of owner: UserID, to sealedSecret: [UInt8], recording event: AuditEvent
    ) async throws -> Bool {
        try await change(
            SQL.rotateSecret, .id(id), .id(owner), .bytes(sealedSecret), recording: event)
    }

    func removeWebhook(
        _ id: WebhookID, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(SQL.removeWebhook, .id(id), .id(owner), recording: event)
    }

    func attempts(of id: WebhookID) async throws -> [WebhookAttempt] {
        try await all(SQL.attempts, .id(id), read: WebhookAttempt.init(row:))
    }
}

extension PostgresStore: WebhookQueue {
    func add(_ events: [(event: WebhookEvent, owner: UserID)]) async throws -> [Bool] {
        // In one order, so that two transactions never wait for each other.
        let owners = Set(events.map(\.owner)).sorted { $0.text < $1.text }
        let locks = owners.map { PostgresStatement(SQL.lockOfOwner, .id($0)) }
        let inserts = events.map { event, owner in
            PostgresStatement(
                SQL.addEvent, .text(event.id), .id(owner), .text(event.kind.rawValue),
                .bytes(event.body), .instant(event.created))
        }
        return try await perform(
            PostgresWrite(
                locks + inserts, repetition: .harmless,
                read: { results in
                    try results.dropFirst(locks.count).map {
                        try $0.first { try $0.integer(0) } == 1
                    }
                }))
    }

    func hasDueWebhook(at now: Instant) async throws -> Bool {
        try await exists(SQL.hasDueWebhook, .instant(now))
    }

    func takeWebhookEvents(
        at now: Instant, until retry: Instant, limit: Int, slow: Int
    ) async throws -> [PendingWebhookEvent] {
        let take = PostgresStatement(
            SQL.takeEvents, .instant(now), .instant(retry), .limit(limit), .limit(slow))
        // When the connection is lost, the events may have been taken: they are due again later.
        return try await perform(
            PostgresWrite(
                [take], repetition: .never,
                read: { try $0[0].all(PendingWebhookEvent.init(row:)) }))
    }

    func noteAccepted(
        _ pending: PendingWebhookEvent, _ attempt: WebhookAttempt, takingNextUntil retry: Instant?
    ) async throws -> PendingWebhookEvent? {
        let id = PostgresValue.id(pending.webhook)
        var statements =
            Self.recording(attempt, of: pending) + [
                PostgresStatement(SQL.removeEvent, .integer(pending.number)),
                PostgresStatement(
                    SQL.noteAccepted, id, .instant(attempt.time), .bool(attempt.isSlow)),
            ]
        let before = statements.count
        if let retry {
            statements.append(
                PostgresStatement(SQL.takeNext, .instant(attempt.time), .instant(retry), id))
        }
        // Repeated after a lost connection, it takes another event. The first is due again later.
        return try await perform(
            PostgresWrite(
                statements, repetition: .harmless,
                read: { results in
                    guard results.count > before else { return nil }
                    return try results[before].first(PendingWebhookEvent.init(row:))
                }))
    }

    func noteRejected(
        _ pending: PendingWebhookEvent, _ attempt: WebhookAttempt, retryAt retry: Instant?,
        recording event: AuditEvent
    ) async throws -> Int? {
        let number = PostgresValue.integer(pending.number)
        let id = PostgresValue.id(pending.webhook)
        let statements =
            Self.recording(attempt, of: pending) + [
                retry.map { PostgresStatement(SQL.postponeEvent, number, .instant($0)) }
                    // Repeated, it finds no event, and counts nothing.
                    ?? PostgresStatement(SQL.countFailure, number, id),
                PostgresStatement(SQL.noteRejected, id, .instant(attempt.time)),
            ]
        let mustDisable = try await perform(
            PostgresWrite(
                statements, repetition: .harmless,
                read: { try $0[statements.count - 1].first { try $0.bool(0) } ?? false }))
        guard mustDisable else { return nil }
        let removed = try await record(
            event, SQL.disableWebhook, [id],
            after: [PostgresStatement(SQL.lockWebhook, id)], ifMade: Int64(0),
            read: { try $0.integer(0) > 0 ? try $0.integer(1) : -1 }, isMade: { $0 >= 0 })
        return removed < 0 ? nil : Int(removed)
    }

    private static func recording(
        _ attempt: WebhookAttempt, of pending: PendingWebhookEvent
    ) -> [PostgresStatement] {
        let id = PostgresValue.id(pending.webhook)
        return [
            PostgresStatement(SQL.lockWebhook, id),
            PostgresStatement(
                SQL.insertAttempt, .id(attempt.id), id, .text(attempt.eventID),
                .text(attempt.kind.rawValue), PostgresValue(attempt.status),
                PostgresValue(attempt.error), .integer(attempt.number),
                .integer(attempt.milliseconds), .instant(attempt.time)),
            PostgresStatement(SQL.trimAttempts, id, .limit(Webhook.attemptsKept)),
        ]
    }
}

private enum SQL {
    /// Does nothing when the owner has a webhook.
    static let insertWebhook = Query.recording(
        "insertWebhook", 9,
        """
        changed AS (
            INSERT INTO webhook (\(Webhook.columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING 1
        )
        """)

    static let webhookOfOwner = Query(
        "webhookOfOwner", "SELECT \(Webhook.columns) FROM webhook WHERE owner = $1")

    static let rotateSecret = Query.recording(
        "rotateSecret", 3,
        """
        changed AS (
            UPDATE webhook SET secret = $3, status = 'active', failures = 0
            WHERE id = $1 AND owner = $2 RETURNING 1
        )
        """)

    static let removeWebhook = Query.recording(
        "removeWebhook", 2,
        "changed AS (DELETE FROM webhook WHERE id = $1 AND owner = $2 RETURNING 1)")

    static let attempts = Query(
        "webhookAttempts",
        """
        SELECT \(WebhookAttempt.columns) FROM webhook_attempt WHERE webhook = $1
        ORDER BY number DESC LIMIT \(Webhook.attemptsKept)
        """)

    static let lockOfOwner = Query(
        "lockWebhookOfOwner", "SELECT 1 FROM webhook WHERE owner = $1 FOR NO KEY UPDATE")

    static let lockWebhook = Query(
        "lockWebhook", "SELECT 1 FROM webhook WHERE id = $1 FOR NO KEY UPDATE")

    /// Begins after the lock was acquired, so that it sees the events that were added before.
    static let addEvent = Query(
        "addWebhookEvent",
        """
        WITH target AS (
            SELECT webhook.id FROM webhook JOIN pro_user ON pro_user.id = webhook.owner
            WHERE webhook.owner = $2 AND webhook.status = 'active' AND pro_user.state = 'active'
                AND ($3::text = '\(Webhook.EventKind.test.rawValue)'
                    OR $3::text = ANY (string_to_array(webhook.events, ' ')))
        ),
        added AS (
            INSERT INTO webhook_event (id, webhook, kind, body, created, due)
            SELECT $1::text, target.id, $3::text, $4::bytea, $5::timestamptz, $5::timestamptz
            FROM target WHERE NOT EXISTS (
                SELECT 1 FROM webhook_event AS waiting WHERE waiting.webhook = target.id
                OFFSET \(Webhook.queueLimit - 1) LIMIT 1
            )
            ON CONFLICT DO NOTHING RETURNING webhook
        ),
        woken AS (
            UPDATE webhook SET due = $5::timestamptz FROM added
            WHERE webhook.id = added.webhook AND NOT webhook.is_sending
                AND (webhook.due IS NULL OR webhook.due > $5::timestamptz)
        )
        SELECT count(*) FROM added
        """)

    static let hasDueWebhook = Query(
        "hasDueWebhook",
        """
        SELECT 1 WHERE
            EXISTS (SELECT 1 FROM webhook WHERE is_slow = false AND due <= $1)
            OR EXISTS (SELECT 1 FROM webhook WHERE is_slow = true AND due <= $1)
        """)

    /// The rest of a statement that begins with the webhooks as `free`.
    private static let taking = """
        first AS (
            SELECT free.id AS webhook, earliest.number
            FROM free CROSS JOIN LATERAL (
                SELECT number FROM webhook_event
                WHERE webhook_event.webhook = free.id AND webhook_event.due <= $1
                ORDER BY webhook_event.due, number LIMIT 1
            ) AS earliest
        ),
        event AS (
            UPDATE webhook_event AS taken SET attempts = attempts + 1, due = $2
            FROM first WHERE taken.number = first.number
            RETURNING taken.*
        ),
        occupied AS (
            UPDATE webhook SET due = $2, is_sending = true
            FROM first WHERE webhook.id = first.webhook
        )
        SELECT \(PendingWebhookEvent.columns)
        FROM event JOIN webhook ON webhook.id = event.webhook
        """

    static let takeEvents = Query(
        "takeWebhookEvents",
        """
        WITH quick AS (
            SELECT id FROM webhook WHERE is_slow = false AND due <= $1
            ORDER BY due LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
        ),
        slow AS (
            SELECT id FROM webhook WHERE is_slow = true AND due <= $1
            ORDER BY due LIMIT least($4, $3 - (SELECT count(*) FROM quick))
            FOR NO KEY UPDATE SKIP LOCKED
        ),
        free AS (SELECT id FROM quick UNION ALL SELECT id FROM slow),
        \(taking)
        """)

    static let takeNext = Query(
        "takeNextWebhookEvent",
        "WITH free AS (SELECT id FROM webhook WHERE id = $3),\n\(taking)")

    static let removeEvent = Query(
        "removeWebhookEvent", "DELETE FROM webhook_event WHERE number = $1")

    static let postponeEvent = Query(
        "postponeWebhookEvent", "UPDATE webhook_event SET due = $2 WHERE number = $1")

    static let noteAccepted = Query(
        "noteWebhookAccepted",
        """
        UPDATE webhook SET failures = 0, last_triggered = $2, is_slow = $3 OR EXISTS (
                SELECT 1 FROM (
                    SELECT error, duration FROM webhook_attempt WHERE webhook = $1
                    ORDER BY number DESC LIMIT \(WebhookAttempt.quickCount)) AS recent
                WHERE error IS NOT NULL OR duration >= \(WebhookAttempt.slowMilliseconds)),
            is_sending = false, due = (\(nextDue))
        WHERE id = $1
        """)

    static let countFailure = Query(
        "countWebhookFailure",
        """
        WITH failed AS (DELETE FROM webhook_event WHERE number = $1 RETURNING 1)
        UPDATE webhook SET failures = failures + 1
        WHERE id = $2 AND EXISTS (SELECT 1 FROM failed)
        """)

    static let noteRejected = Query(
        "noteWebhookRejected",
        """
        UPDATE webhook SET is_slow = true, last_triggered = $2, is_sending = false,
            due = (\(nextDue))
        WHERE id = $1
        RETURNING status = 'active' AND failures >= \(Webhook.failureLimit)
        """)

    private static let nextDue = """
        SELECT webhook_event.due FROM webhook_event WHERE webhook_event.webhook = $1
        ORDER BY webhook_event.due LIMIT 1
        """

    static let disableWebhook = Query.recording(
        "disableWebhook", 1,
        """
        changed AS (
            UPDATE webhook SET status = 'disabled', due = NULL, is_sending = false
            WHERE id = $1 AND status = 'active' AND failures >= \(Webhook.failureLimit)
            RETURNING id
        ),
        removed AS (
            DELETE FROM webhook_event WHERE webhook IN (SELECT id FROM changed) RETURNING 1
        )
        """, result: "SELECT (SELECT count(*) FROM changed), (SELECT count(*) FROM removed)")

    static let insertAttempt = Query(
        "insertWebhookAttempt",
        """
        INSERT INTO webhook_attempt
            (id, webhook, event, kind, status, error, attempt, duration, time)
        SELECT $1::uuid, webhook.id, $3::text, $4::text, $5::bigint, $6::text, $7::bigint,
               $8::bigint, $9::timestamptz
        FROM webhook WHERE webhook.id = $2
        ON CONFLICT DO NOTHING
        """)

    static let trimAttempts = Query(
        "trimWebhookAttempts",
        """
        DELETE FROM webhook_attempt WHERE webhook = $1 AND number <= (
            SELECT number FROM webhook_attempt WHERE webhook = $1
            ORDER BY number DESC LIMIT 1 OFFSET $2
        )
        """)
}
