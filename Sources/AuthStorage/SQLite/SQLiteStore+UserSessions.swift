internal import AuthCore

extension SQLiteStore: UserSessionStore {
    func insert(
        _ session: UserSession, at version: Int64, hasSecondFactor: Bool, limit: Int,
        recording event: AuditEvent?
    ) async throws -> UserSessionInsertion {
        try await write { connection in
            if !hasSecondFactor, try connection.exists(SQL.hasTOTP, .id(session.owner)) {
                return .secondFactorRequired
            }
            guard
                try connection.run(
                    SQL.insertSession, .id(session.id), .id(session.owner),
                    .instant(session.created), .instant(session.lastUsed),
                    .instant(session.expiry), .instant(session.authenticated),
                    .text(session.method.text), .text(session.client), .text(session.agent),
                    .integer(version)) == 1
            else { return .rejected }
            try connection.run(
                SQL.dropUnusedSessions, .id(session.owner), .id(session.id), .limit(limit - 1))
            if let event { try connection.record(event) }
            return .inserted
        }
    }

    func holder(of id: UserSessionID) async throws -> (session: UserSession, owner: User)? {
        try await read { connection in
            try connection.first(SQL.sessionByID, .id(id)) { row in
                (
                    session: try UserSession(row: row),
                    owner: try User(row: row, from: UserSession.columnCount)
                )
            }
        }
    }

    func sessions(of owner: UserID, at now: Instant) async throws -> [UserSession] {
        try await read {
            try $0.all(SQL.sessionsOfOwner, .id(owner), .instant(now), read: UserSession.init(row:))
        }
    }

    func endSession(
        _ id: UserSessionID, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.endSession, .id(id), .id(owner)) == 1
        }
    }

    func endSessions(
        of owner: UserID, except id: UserSessionID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.endOtherSessions, .id(owner), .id(id)) > 0
        }
    }

    func noteUse(
        of id: UserSessionID, at now: Instant, unlessSince since: Instant
    ) async throws {
        _ = try await write {
            try $0.run(SQL.noteSessionUse, .instant(now), .id(id), .instant(since))
        }
    }

    func sweepSessions(before instant: Instant, limit: Int) async throws -> Int {
        try await write { try $0.run(SQL.sweepSessions, .instant(instant), .limit(limit)) }
    }
}

extension SQLiteConnection {
    /// Ends other sessions of the owner, and records that if there were any.
    func end(_ others: OtherSessions?, of owner: UserID) throws {
        guard let others, try run(SQL.endOtherSessions, .id(owner), .id(others.kept)) > 0 else {
            return
        }
        try record(others.event)
    }

    /// Ends every session of the owner, and removes the links that set a password: for what raises
    /// the credential version.
    func removeSessions(of owner: UserID) throws {
        try run(SQL.endAllSessions, .id(owner))
        try removeResetLinks(of: owner)
    }
}

private enum SQL {
    static let hasTOTP = Query("hasTOTP", "SELECT 1 FROM totp WHERE owner = ?1")

    static let insertSession = Query(
        "insertSession",
        """
        INSERT INTO user_session (\(UserSession.columns))
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
        WHERE EXISTS (
            SELECT 1 FROM user WHERE id = ?2 AND credential_version = ?10 AND state = 'active'
        )
        ON CONFLICT DO NOTHING
        """)

    /// A negative limit means no limit.
    static let dropUnusedSessions = Query(
        "dropUnusedSessions",
        """
        DELETE FROM user_session WHERE id IN (
            SELECT id FROM user_session WHERE owner = ?1 AND id <> ?2
            ORDER BY last_used DESC, id LIMIT -1 OFFSET ?3
        )
        """)

    /// One statement, because each statement locks the log again for its reader.
    static let sessionByID = Query(
        "sessionByID",
        """
        SELECT \(UserSession.columns.columns(of: "user_session")),
            \(User.columns.columns(of: "user"))
        FROM user_session JOIN user ON user.id = user_session.owner
        WHERE user_session.id = ?1
        """)

    static let sessionsOfOwner = Query(
        "sessionsOfOwner",
        """
        SELECT \(UserSession.columns) FROM user_session WHERE owner = ?1 AND expiry > ?2
        ORDER BY last_used DESC, id
        """)

    static let endSession = Query(
        "endSession", "DELETE FROM user_session WHERE id = ?1 AND owner = ?2")

    static let endOtherSessions = Query(
        "endOtherSessions", "DELETE FROM user_session WHERE owner = ?1 AND id <> ?2")

    static let endAllSessions = Query(
        "endAllSessions", "DELETE FROM user_session WHERE owner = ?1")

    static let noteSessionUse = Query(
        "noteSessionUse",
        "UPDATE user_session SET last_used = ?1 WHERE id = ?2 AND last_used < ?3")

    static let sweepSessions = Query(
        "sweepSessions",
        """
        DELETE FROM user_session WHERE id IN
        (SELECT id FROM user_session WHERE expiry < ?1 ORDER BY expiry LIMIT ?2)
        """)
}
