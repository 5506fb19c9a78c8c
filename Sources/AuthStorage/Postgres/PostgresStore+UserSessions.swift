internal import AuthCore

extension PostgresStore: UserSessionStore {
    func insert(
        _ session: UserSession, at version: Int64, hasSecondFactor: Bool, limit: Int,
        recording event: AuditEvent?
    ) async throws -> UserSessionInsertion {
        let values = session.values + [.integer(version), .bool(hasSecondFactor)]
        // Logins of one user wait for each other, for what ends all sessions of the user, and for
        // what turns one-time codes on.
        let locks = [PostgresStatement.lockingOwner(session.owner)]
        let later = [
            PostgresStatement(
                SQL.dropUnusedSessions, .id(session.owner), .id(session.id), .limit(limit - 1))
        ]
        guard let event else {
            return try await perform(
                PostgresWrite(
                    locks + [PostgresStatement(SQL.insertSession, values)] + later,
                    repetition: .provable(
                        PostgresStatement(SQL.sessionExists, .id(session.id)), done: .inserted),
                    read: {
                        try $0[locks.count].first(UserSessionInsertion.init(row:)) ?? .rejected
                    }))
        }
        return try await record(
            event, SQL.insertRecordedSession, values, after: locks, before: later,
            ifMade: .inserted, read: UserSessionInsertion.init(row:), isMade: { $0 == .inserted })
    }

    func holder(of id: UserSessionID) async throws -> (session: UserSession, owner: User)? {
        try await lookUp(SQL.sessionByID, .id(id)) { row in
            (
                session: try UserSession(row: row),
                owner: try User(row: row, from: UserSession.columnCount)
            )
        }
    }

    func sessions(of owner: UserID, at now: Instant) async throws -> [UserSession] {
        try await all(SQL.sessionsOfOwner, .id(owner), .instant(now)) { try UserSession(row: $0) }
    }

    func endSession(
        _ id: UserSessionID, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(SQL.endSession, .id(id), .id(owner), recording: event)
    }

    func endSessions(
        of owner: UserID, except id: UserSessionID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(
            SQL.endOtherSessions, .id(owner), .id(id), recording: event,
            // The statement after it sees every session that was opened before.
            after: [.lockingOwner(owner)])
    }

    func noteUse(
        of id: UserSessionID, at now: Instant, unlessSince since: Instant
    ) async throws {
        try await perform(
            PostgresWrite(
                [PostgresStatement(SQL.noteSessionUse, .instant(now), .id(id), .instant(since))],
                repetition: .harmless, read: { _ in }))
    }

    func sweepSessions(before instant: Instant, limit: Int) async throws -> Int {
        try await perform(
            PostgresWrite(
                [PostgresStatement(SQL.sweepSessions, .instant(instant), .limit(limit))],
                repetition: .harmless, read: { $0[0].changes }))
    }
}

extension PostgresStatement {
    /// Ends other sessions of the owner, and records that if there were any.
    /// - Parameter write: the id of the write of this transaction that causes it. If it has changed
    ///   nothing, no session ends.
    static func ending(
        _ others: OtherSessions, of owner: UserID, after write: [UInt8]
    ) -> PostgresStatement {
        PostgresStatement(
            SQL.endOtherSessionsAfterWrite,
            [.id(owner), .id(others.kept), .uuid(write)] + others.event.values(nil))
    }
}

extension UserSessionInsertion {
    /// - Parameter row: of `SQL.insertion`.
    fileprivate init(row: PostgresRow) throws {
        let isInserted = try row.integer(0) > 0
        self = isInserted ? .inserted : try row.bool(1) ? .secondFactorRequired : .rejected
    }
}

extension UserSession {
    fileprivate var values: [PostgresValue] {
        [
            .id(id), .id(owner), .instant(created), .instant(lastUsed), .instant(expiry),
            .instant(authenticated), .text(method.text), .text(client), .text(agent),
        ]
    }
}

private enum SQL {
    private static let insert = """
        changed AS (
        INSERT INTO user_session (\(UserSession.columns))
        SELECT $1::uuid, $2::uuid, $3::timestamptz, $4::timestamptz, $5::timestamptz,
               $6::timestamptz, $7::text, $8::text, $9::text
        WHERE EXISTS (
            SELECT 1 FROM pro_user
            WHERE id = $2 AND credential_version = $10::bigint AND state = 'active'
        ) AND ($11::boolean OR NOT EXISTS (SELECT 1 FROM totp WHERE owner = $2))
        ON CONFLICT DO NOTHING RETURNING 1
        )
        """

    /// Whether the session was added, and whether it needs a second factor.
    private static let insertion = """
        SELECT (SELECT count(*) FROM changed),
               NOT $11 AND EXISTS (SELECT 1 FROM totp WHERE owner = $2)
        """

    static let insertSession = Query("insertSession", "WITH \(insert) \(insertion)")

    static let insertRecordedSession = Query.recording(
        "insertRecordedSession", 11, insert, result: insertion)

    static let sessionExists = Query(
        "sessionExists", "SELECT 1 FROM user_session WHERE id = $1")

    /// Nothing is removed if the new session was not added.
    static let dropUnusedSessions = Query(
        "dropUnusedSessions",
        """
        DELETE FROM user_session WHERE id = ANY (ARRAY(
            SELECT id FROM user_session
            WHERE owner = $1 AND id <> $2 AND EXISTS (SELECT 1 FROM user_session WHERE id = $2)
            ORDER BY last_used DESC, id OFFSET $3
        ))
        """)

    static let sessionByID = Query(
        "sessionByID",
        """
        SELECT \(UserSession.columns.columns(of: "user_session")),
               \(User.columns.columns(of: "pro_user"))
        FROM user_session JOIN pro_user ON pro_user.id = user_session.owner
        WHERE user_session.id = $1
        """)

    static let sessionsOfOwner = Query(
        "sessionsOfOwner",
        """
        SELECT \(UserSession.columns) FROM user_session WHERE owner = $1 AND expiry > $2
        ORDER BY last_used DESC, id
        """)

    static let endSession = Query.recording(
        "endSession", 2,
        "changed AS (DELETE FROM user_session WHERE id = $1 AND owner = $2 RETURNING 1)")

    static let endOtherSessions = Query.recording(
        "endOtherSessions", 2,
        "changed AS (DELETE FROM user_session WHERE owner = $1 AND id <> $2 RETURNING 1)")

    /// The event of the write is there exactly when it has changed something.
    static let endOtherSessionsAfterWrite = Query.recording(
        "endOtherSessionsAfterWrite", 3,
        """
        changed AS (
            DELETE FROM user_session WHERE owner = $1 AND id <> $2
                AND EXISTS (SELECT 1 FROM audit WHERE write_id = $3)
            RETURNING 1
        )
        """)

    static let noteSessionUse = Query(
        "noteSessionUse",
        "UPDATE user_session SET last_used = $1 WHERE id = $2 AND last_used < $3")

    /// Rows that another server is removing are skipped.
    static let sweepSessions = Query(
        "sweepSessions",
        """
        DELETE FROM user_session WHERE id = ANY (ARRAY(
            SELECT id FROM user_session WHERE expiry < $1 ORDER BY expiry LIMIT $2
            FOR UPDATE SKIP LOCKED
        ))
        """)
}
