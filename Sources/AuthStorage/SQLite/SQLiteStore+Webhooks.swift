internal import AuthCore

extension SQLiteStore: WebhookStore {
    func insert(_ webhook: Webhook, recording event: AuditEvent) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(
                SQL.insertWebhook, .id(webhook.id), .id(webhook.owner), .text(webhook.url),
                .text(webhook.storedEvents), .blob(webhook.sealedSecret),
                .text(webhook.status.rawValue), .integer(webhook.failures),
                SQLValue(webhook.lastTriggered), .instant(webhook.created)) == 1
        }
    }

    func webhook(of owner: UserID) async throws -> Webhook? {
        try await read { try $0.first(SQL.webhookOfOwner, .id(owner), read: Webhook.init(row:)) }
    }

    func rotateSecret(
        of id: WebhookID, of owner: UserID, to sealedSecret: [UInt8], recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.rotateSecret, .id(id), .id(owner), .blob(sealedSecret)) == 1
        }
    }

    func removeWebhook(
        _ id: WebhookID, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.removeWebhook, .id(id), .id(owner)) == 1
        }
    }

    func attempts(of id: WebhookID) async throws -> [WebhookAttempt] {
        try await read {
            try $0.all(SQL.attempts, .id(id), read: WebhookAttempt.init(row:))
        }
    }
}

extension SQLiteStore: WebhookQueue {
    func add(_ events: [(event: WebhookEvent, owner: UserID)]) async throws -> [Bool] {
        try await write { connection in
            try events.map { try connection.add($0.event, for: $0.owner) }
        }
    }

    func hasDueWebhook(at now: Instant) async throws -> Bool {
        try await read { connection in
            for isSlow: Int64 in [0, 1]
            where try connection.exists(
                SQL.dueWebhooks, .integer(isSlow), .instant(now), .limit(1))
            {
                return true
            }
            return false
        }
    }

    func takeWebhookEvents(
        at now: Instant, until retry: Instant, limit: Int, slow: Int
    ) async throws -> [PendingWebhookEvent] {
        try await write { connection in
            func due(_ isSlow: Int64, _ limit: Int) throws -> [WebhookID] {
                try connection.all(
                    SQL.dueWebhooks, .integer(isSlow), .instant(now), .limit(limit)
                ) { try $0.id(0) }
            }
            let quick = try due(0, limit)
            let webhooks = try quick + due(1, min(slow, limit - quick.count))
            return try webhooks.compactMap { try connection.take(of: $0, at: now, until: retry) }
        }
    }

    func noteAccepted(
        _ pending: PendingWebhookEvent, _ attempt: WebhookAttempt, takingNextUntil retry: Instant?
    ) async throws -> PendingWebhookEvent? {
        try await write { connection in
            guard
                try connection.run(
                    SQL.noteAccepted, .id(pending.webhook), .instant(attempt.time),
                    .integer(attempt.isSlow ? 1 : 0)) == 1
            else { return nil }
            try connection.record(attempt, of: pending.webhook)
            try connection.run(SQL.removeEvent, .integer(pending.number))
            try connection.run(SQL.freeWebhook, .id(pending.webhook))
            guard let retry else { return nil }
            return try connection.take(of: pending.webhook, at: attempt.time, until: retry)
        }
    }

    func noteRejected(
        _ pending: PendingWebhookEvent, _ attempt: WebhookAttempt, retryAt retry: Instant?,
        recording event: AuditEvent
    ) async throws -> Int? {
        try await write { connection in
            let id = SQLValue.id(pending.webhook)
            guard try connection.run(SQL.noteRejected, id, .instant(attempt.time)) == 1 else {
                return nil
            }
            try connection.record(attempt, of: pending.webhook)
            var removed: Int?
            if let retry {
                try connection.run(
                    SQL.postponeEvent, .integer(pending.number), .instant(retry))
            } else if try connection.run(SQL.removeEvent, .integer(pending.number)) == 1 {
                try connection.run(SQL.countFailure, id)
                if try connection.run(SQL.disableWebhook, id) == 1 {
                    removed = try connection.run(SQL.removeEvents, id)
                    try connection.record(event)
                }
            }
            try connection.run(SQL.freeWebhook, id)
            return removed
        }
    }
}

extension SQLiteConnection {
    fileprivate func add(_ event: WebhookEvent, for owner: UserID) throws -> Bool {
        let found = try first(SQL.activeWebhook, .id(owner), read: Webhook.init(row:))
        guard let found, event.kind == .test || found.events.contains(event.kind),
            try !exists(SQL.eventAt, .id(found.id), .limit(Webhook.queueLimit - 1))
        else { return false }
        try run(
            SQL.insertEvent, .text(event.id), .id(found.id), .text(event.kind.rawValue),
            .blob(event.body), .instant(event.created))
        try run(SQL.wakeWebhook, .id(found.id), .instant(event.created))
        return true
    }

    fileprivate func take(
        of webhook: WebhookID, at now: Instant, until retry: Instant
    ) throws -> PendingWebhookEvent? {
        guard
            let number = try first(
                SQL.dueEvent, .id(webhook), .instant(now), read: { try $0.integer(0) })
        else { return nil }
        try run(SQL.takeEvent, .integer(number), .instant(retry))
        let pending = try first(
            SQL.pendingEvent, .integer(number), read: PendingWebhookEvent.init(row:))
        try run(SQL.occupyWebhook, .id(webhook), .instant(retry))
        return pending
    }

    fileprivate func record(_ attempt: WebhookAttempt, of webhook: WebhookID) throws {
        try run(
            SQL.insertAttempt, .id(attempt.id), .id(webhook), .text(attempt.eventID),
            .text(attempt.kind.rawValue), SQLValue(attempt.status), SQLValue(attempt.error),
            .integer(attempt.number), .integer(attempt.milliseconds), .instant(attempt.time))
        try run(SQL.trimAttempts, .id(webhook), .limit(Webhook.attemptsKept))
    }
}

private enum SQL {
    /// Does nothing when the owner has a webhook.
    static let insertWebhook = Query(
        "insertWebhook",
        """
        INSERT INTO webhook (\(Webhook.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT DO NOTHING
        """)

    static let webhookOfOwner = Query(
        "webhookOfOwner", "SELECT \(Webhook.columns) FROM webhook WHERE owner = ?1")

    static let activeWebhook = Query(
        "activeWebhook",
        """
        SELECT \(Webhook.columns.columns(of: "webhook"))
        FROM webhook JOIN user ON user.id = webhook.owner
        WHERE webhook.owner = ?1 AND webhook.status = 'active' AND user.state = 'active'
        """)

    static let rotateSecret = Query(
        "rotateSecret",
        """
        UPDATE webhook SET secret = ?3, status = 'active', failures = 0
        WHERE id = ?1 AND owner = ?2
        """)

    static let removeWebhook = Query(
        "removeWebhook", "DELETE FROM webhook WHERE id = ?1 AND owner = ?2")

    static let attempts = Query(
        "webhookAttempts",
        """
        SELECT \(WebhookAttempt.columns) FROM webhook_attempt WHERE webhook = ?1
        ORDER BY number DESC LIMIT \(Webhook.attemptsKept)
        """)

    static let eventAt = Query(
        "webhookEventAt", "SELECT 1 FROM webhook_event WHERE webhook = ?1 LIMIT 1 OFFSET ?2")

    static let insertEvent = Query(
        "insertWebhookEvent",
        """
        INSERT INTO webhook_event (id, webhook, kind, body, created, due)
        VALUES (?1, ?2, ?3, ?4, ?5, ?5)
        """)

    static let wakeWebhook = Query(
        "wakeWebhook",
        """
        UPDATE webhook SET due = ?2
        WHERE id = ?1 AND NOT is_sending AND (due IS NULL OR due > ?2)
        """)

    static let dueWebhooks = Query(
        "dueWebhooks",
        "SELECT id FROM webhook WHERE is_slow = ?1 AND due <= ?2 ORDER BY due LIMIT ?3")

    static let dueEvent = Query(
        "dueWebhookEvent",
        """
        SELECT number FROM webhook_event WHERE webhook = ?1 AND due <= ?2
        ORDER BY due, number LIMIT 1
        """)

    static let takeEvent = Query(
        "takeWebhookEvent",
        "UPDATE webhook_event SET attempts = attempts + 1, due = ?2 WHERE number = ?1")

    static let pendingEvent = Query(
        "pendingWebhookEvent",
        """
        SELECT \(PendingWebhookEvent.columns)
        FROM webhook_event AS event JOIN webhook ON webhook.id = event.webhook
        WHERE event.number = ?1
        """)

    static let occupyWebhook = Query(
        "occupyWebhook", "UPDATE webhook SET due = ?2, is_sending = 1 WHERE id = ?1")

    static let freeWebhook = Query(
        "freeWebhook",
        """
        UPDATE webhook SET is_sending = 0, due = (
            SELECT due FROM webhook_event WHERE webhook = ?1 ORDER BY due LIMIT 1
        )
        WHERE id = ?1
        """)

    static let noteAccepted = Query(
        "noteWebhookAccepted",
        """
        UPDATE webhook SET failures = 0, last_triggered = ?2, is_slow = ?3 OR EXISTS (
            SELECT 1 FROM (
                SELECT error, duration FROM webhook_attempt WHERE webhook = ?1
                ORDER BY number DESC LIMIT \(WebhookAttempt.quickCount))
            WHERE error IS NOT NULL OR duration >= \(WebhookAttempt.slowMilliseconds))
        WHERE id = ?1
        """)

    static let noteRejected = Query(
        "noteWebhookRejected",
        "UPDATE webhook SET is_slow = 1, last_triggered = ?2 WHERE id = ?1")

    static let countFailure = Query(
        "countWebhookFailure", "UPDATE webhook SET failures = failures + 1 WHERE id = ?1")

    static let disableWebhook = Query(
        "disableWebhook",
        """
        UPDATE webhook SET status = 'disabled'
        WHERE id = ?1 AND status = 'active' AND failures >= \(Webhook.failureLimit)
        """)

    static let postponeEvent = Query(
        "postponeWebhookEvent", "UPDATE webhook_event SET due = ?2 WHERE number = ?1")

    static let removeEvent = Query(
        "removeWebhookEvent", "DELETE FROM webhook_event WHERE number = ?1")

    static let removeEvents = Query(
        "removeWebhookEvents", "DELETE FROM webhook_event WHERE webhook = ?1")

    static let insertAttempt = Query(
        "insertWebhookAttempt",
        """
        INSERT INTO webhook_attempt
            (id, webhook, event, kind, status, error, attempt, duration, time)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        """)

    static let trimAttempts = Query(
        "trimWebhookAttempts",
        """
        DELETE FROM webhook_attempt WHERE webhook = ?1 AND number <= (
            SELECT number FROM webhook_attempt WHERE webhook = ?1
            ORDER BY number DESC LIMIT 1 OFFSET ?2
        )
        """)
}
