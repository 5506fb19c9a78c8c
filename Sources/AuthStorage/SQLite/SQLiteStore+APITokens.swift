internal import AuthCore

extension SQLiteStore: APITokenStore {
    func insert(
        _ token: APIToken, by issuer: APIToken.Issuer, limit: Int, recording event: AuditEvent
    ) async throws -> APITokenInsertion {
        try await write { connection in
            let now = SQLValue.instant(token.created)
            guard try issuer.isValid(for: token.owner, in: connection) else { return .issuerEnded }
            guard limit > 0,
                try !connection.exists(
                    SQL.liveTokenAt, .id(token.owner), .limit(limit - 1), now),
                try token.insert(into: connection)
            else { return .rejected }
            try connection.run(SQL.forgetEndedTokens, .id(token.owner), now)
            try connection.record(event)
            return .inserted
        }
    }

    func holder(
        digest: APIKeyDigest
    ) async throws -> (token: APIToken, owner: User)? {
        try await read { connection in
            try connection.first(SQL.tokenByDigest, .blob(digest.bytes)) { row in
                (
                    token: try APIToken(row: row),
                    owner: try User(row: row, from: APIToken.columnCount)
                )
            }
        }
    }

    func tokens(of owner: UserID) async throws -> [APIToken] {
        try await read { try $0.all(SQL.tokensOfOwner, .id(owner), read: APIToken.init(row:)) }
    }

    func revoke(
        _ id: APITokenID, of owner: UserID, at now: Instant, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.revokeToken, .instant(now), .id(id), .id(owner)) == 1
        }
    }

    func noteUse(
        of id: APITokenID, at now: Instant, unlessSince since: Instant
    ) async throws {
        _ = try await write { try $0.run(SQL.noteUse, .instant(now), .id(id), .instant(since)) }
    }
}

extension SQLiteConnection {
    /// Revokes every token of the owner that is neither revoked nor expired.
    /// - Parameter cause: its actor, time and request are those of the events.
    func revokeTokens(of owner: UserID, as cause: AuditEvent) throws {
        let revoked = try all(SQL.revokeTokens, .instant(cause.time), .id(owner)) {
            try $0.text(0)
        }
        for id in revoked {
            try record(
                AuditEvent(
                    .tokenRevoked, time: cause.time, actor: cause.actor, subject: id,
                    client: cause.client, requestID: cause.requestID))
        }
    }
}

extension APIToken.Issuer {
    fileprivate func isValid(
        for owner: UserID, in connection: SQLiteConnection
    ) throws -> Bool {
        switch self {
        case .session(let version):
            try connection.exists(SQL.userAtVersion, .id(owner), .integer(version))
        case .token(let id): try connection.exists(SQL.unrevokedToken, .id(id), .id(owner))
        }
    }
}

extension APIToken {
    /// - Returns: `false` when the id or the digest is there already.
    fileprivate func insert(into connection: SQLiteConnection) throws -> Bool {
        try connection.run(
            SQL.insertToken, .id(id), .id(owner), .text(name), .blob(digest.bytes),
            .instant(created), SQLValue(expiry), SQLValue(lastUsed), SQLValue(revoked),
            .text(storedScopes)) == 1
    }
}

private enum SQL {
    /// Does nothing when the id or the digest is there already.
    static let insertToken = Query(
        "insertToken",
        """
        INSERT INTO api_token (\(APIToken.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT DO NOTHING
        """)

    static let userAtVersion = Query(
        "userAtVersion",
        "SELECT 1 FROM user WHERE id = ?1 AND credential_version = ?2 AND state = 'active'")

    static let unrevokedToken = Query(
        "unrevokedToken",
        "SELECT 1 FROM api_token WHERE id = ?1 AND owner = ?2 AND revoked IS NULL")

    static let liveTokenAt = Query(
        "liveTokenAt",
        """
        SELECT 1 FROM api_token
        WHERE owner = ?1 AND revoked IS NULL AND (expiry IS NULL OR expiry > ?3)
        LIMIT 1 OFFSET ?2
        """)

    /// One SELECT for each index. A negative limit means no limit.
    static let forgetEndedTokens = Query(
        "forgetEndedTokens",
        """
        DELETE FROM api_token WHERE id IN (
            SELECT id FROM (
                SELECT id, revoked AS ended FROM api_token
                WHERE owner = ?1 AND revoked IS NOT NULL
                UNION ALL
                SELECT id, expiry FROM api_token
                WHERE owner = ?1 AND revoked IS NULL AND expiry <= ?2
            )
            ORDER BY ended DESC, id DESC LIMIT -1 OFFSET \(APIToken.endedKept)
        )
        """)

    /// One statement, because each statement locks the log again for its reader.
    static let tokenByDigest = Query(
        "tokenByDigest",
        """
        SELECT \(APIToken.columns.columns(of: "api_token")),
            \(User.columns.columns(of: "user"))
        FROM api_token JOIN user ON user.id = api_token.owner
        WHERE api_token.digest = ?1
        """)

    /// One statement, so that a token that is revoked at the same time is listed once.
    static let tokensOfOwner = Query(
        "tokensOfOwner",
        """
        SELECT * FROM (
            SELECT \(APIToken.columns) FROM api_token WHERE owner = ?1 AND revoked IS NULL
            UNION ALL
            SELECT * FROM (
                SELECT \(APIToken.columns) FROM api_token
                WHERE owner = ?1 AND revoked IS NOT NULL
                ORDER BY revoked DESC, id DESC LIMIT \(APIToken.endedKept)
            )
        )
        ORDER BY created, id
        """)

    static let revokeToken = Query(
        "revokeToken",
        "UPDATE api_token SET revoked = ?1 WHERE id = ?2 AND owner = ?3 AND revoked IS NULL")

    static let revokeTokens = Query(
        "revokeTokens",
        """
        UPDATE api_token SET revoked = ?1
        WHERE owner = ?2 AND revoked IS NULL AND (expiry IS NULL OR expiry > ?1)
        RETURNING id
        """)

    static let noteUse = Query(
        "noteUse",
        """
        UPDATE api_token SET last_used = ?1
        WHERE id = ?2 AND (last_used IS NULL OR last_used < ?3)
        """)
}
