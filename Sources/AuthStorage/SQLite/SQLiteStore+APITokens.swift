public import AuthCore

extension SQLiteStore: APITokenStore {
    public func insert(
        _ token: APIToken, limit: Int, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) { database in
            let now = SQLValue.instant(token.created)
            guard try database.hasRoom(.liveTokenAt, token.owner, limit, now),
                try database.insert(token)
            else { return false }
            try database.run(.forgetEndedTokens, .id(token.owner), now)
            return true
        }
    }

    public func holder(
        digest: APIKeyDigest
    ) async throws -> (token: APIToken, owner: User)? {
        try await read { database in
            let token = try database.first(
                .tokenByDigest, .blob(digest.bytes), read: APIToken.init(row:))
            guard let token, let owner = try database.user(id: token.owner) else { return nil }
            return (token, owner)
        }
    }

    public func tokens(of owner: UserID) async throws -> [APIToken] {
        try await read { try $0.all(.tokensOfOwner, .id(owner), read: APIToken.init(row:)) }
    }

    public func revoke(
        _ id: APITokenID, of owner: UserID, at now: Instant, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(.revokeToken, .instant(now), .id(id), .id(owner)) == 1
        }
    }

    public func noteUse(
        of id: APITokenID, at now: Instant, unlessSince since: Instant
    ) async throws {
        _ = try await write { try $0.run(.noteUse, .instant(now), .id(id), .instant(since)) }
    }
}

extension Database {
    /// - Returns: `false` when the id or the digest is there already.
    fileprivate func insert(_ token: APIToken) throws -> Bool {
        try namingTheOwner {
            try run(
                .insertToken, .id(token.id), .id(token.owner), .text(token.name),
                .blob(token.digest.bytes), .instant(token.created), SQLValue(token.expiry),
                SQLValue(token.lastUsed), SQLValue(token.revoked))
        } == 1
    }
}

extension APIToken {
    fileprivate static let columns =
        "id, owner, name, digest, created, expiry, last_used, revoked"

    fileprivate init(row: Row) throws {
        self.init(
            id: try row.parsed(0, APITokenID.init), owner: try row.parsed(1, UserID.init),
            name: try row.text(2), digest: try row.digest(3), created: try row.instant(4),
            expiry: try row.optionalInstant(5), lastUsed: try row.optionalInstant(6),
            revoked: try row.optionalInstant(7))
    }
}

extension Query {
    /// Does nothing when the id or the digest is there already.
    fileprivate static let insertToken = Query(
        "insertToken",
        """
        INSERT INTO api_token (\(APIToken.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT DO NOTHING
        """)

    fileprivate static let liveTokenAt = Query(
        "liveTokenAt",
        """
        SELECT 1 FROM api_token
        WHERE owner = ?1 AND revoked IS NULL AND (expiry IS NULL OR expiry > ?3)
        LIMIT 1 OFFSET ?2
        """)

    /// A half for each index. A negative limit is none.
    fileprivate static let forgetEndedTokens = Query(
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

    fileprivate static let tokenByDigest = Query(
        "tokenByDigest", "SELECT \(APIToken.columns) FROM api_token WHERE digest = ?1")

    /// One statement, so that a token which is just being revoked is listed once.
    fileprivate static let tokensOfOwner = Query(
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

    fileprivate static let revokeToken = Query(
        "revokeToken",
        "UPDATE api_token SET revoked = ?1 WHERE id = ?2 AND owner = ?3 AND revoked IS NULL")

    fileprivate static let noteUse = Query(
        "noteUse",
        """
        UPDATE api_token SET last_used = ?1
        WHERE id = ?2 AND (last_used IS NULL OR last_used < ?3)
        """)
}
