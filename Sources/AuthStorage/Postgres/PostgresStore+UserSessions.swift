internal import AuthCore

extension PostgresStore: UserSessionStore {
    func insert(
        _ session: UserSession, at version: Int64, limit: Int, recording event: AuditEvent?
    ) async throws -> Bool {
        let values = session.values + [.integer(version)]
        // Logins of one user wait for each other, and for what ends all sessions of the user.
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
                        PostgresStatement(SQL.sessionExists, .id(session.id)), done: true),
                    read: { $0[locks.count].changes == 1 }))
        }
        return try await record(
            event, SQL.insertRecordedSession, values, after: locks, before: later, ifMade: true,
            read: { try $0.integer(0) > 0 }, isMade: { $0 })
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
        INSERT INTO user_session (\(UserSession.columns))
        SELECT $1::uuid, $2::uuid, $3::timestamptz, $4::timestamptz, $5::timestamptz,
               $6::timestamptz, $7::text, $8::text, $9::text
        WHERE EXISTS (
            SELECT 1 FROM pro_user
            WHERE id = $2 AND credential_version = $10::bigint AND state = 'active'
        )
        ON CONFLICT DO NOTHING
        """

    static let insertSession = Query("insertSession", insert)

    static let insertRecordedSession = Query.recording(
        "insertRecordedSession", 10, "changed AS (\(insert) RETURNING 1)")

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
