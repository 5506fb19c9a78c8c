internal import AuthCore

extension PostgresStore: APITokenStore {
    func insert(
        _ token: APIToken, by issuer: APIToken.Issuer, limit: Int, recording event: AuditEvent
    ) async throws -> APITokenInsertion {
        try await record(
            event, SQL.insertToken, token.values + [.limit(limit)] + issuer.values,
            after: [.lockingOwner(token.owner)],
            before: [
                PostgresStatement(SQL.forgetEndedTokens, .id(token.owner), .instant(token.created))
            ], ifMade: .inserted,
            read: { row in
                guard try row.bool(1) else { return .issuerEnded }
                return try row.integer(0) > 0 ? .inserted : .rejected
            }, isMade: { $0 == .inserted })
    }

    func holder(
        digest: APIKeyDigest
    ) async throws -> (token: APIToken, owner: User)? {
        try await lookUp(SQL.tokenByDigest, .bytes(digest.bytes)) { row in
            (
                token: try APIToken(row: row),
                owner: try User(row: row, from: APIToken.columnCount)
            )
        }
    }

    func tokens(of owner: UserID) async throws -> [APIToken] {
        try await all(SQL.tokensOfOwner, .id(owner)) { try APIToken(row: $0) }
    }

    func revoke(
        _ id: APITokenID, of owner: UserID, at now: Instant, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(SQL.revokeToken, .instant(now), .id(id), .id(owner), recording: event)
    }

    func noteUse(
        of id: APITokenID, at now: Instant, unlessSince since: Instant
    ) async throws {
        try await perform(
            PostgresWrite(
                [PostgresStatement(SQL.noteUse, .instant(now), .id(id), .instant(since))],
                repetition: .harmless, read: { _ in }))
    }
}

extension PostgresStatement {
    /// Makes transactions that count what a user owns wait for each other.
    static func lockingOwner(_ id: UserID) -> PostgresStatement {
        PostgresStatement(SQL.lockOwner, .id(id))
    }
}

extension APIToken.Issuer {
    /// The version of a session, or the id of a token.
    fileprivate var values: [PostgresValue] {
        switch self {
        case .session(let version): [.integer(version), .null]
        case .token(let id): [.null, .id(id)]
        }
    }
}

extension APIToken {
    fileprivate var values: [PostgresValue] {
        [
            .id(id), .id(owner), .text(name), .bytes(digest.bytes), .instant(created),
            PostgresValue(expiry), PostgresValue(lastUsed), PostgresValue(revoked),
            .text(storedScopes),
        ]
    }
}

private enum SQL {
    static let lockOwner = Query(
        "lockOwner", "SELECT 1 FROM pro_user WHERE id = $1 FOR NO KEY UPDATE")

    /// Does nothing when the id or the digest is there already.
    static let insertToken = Query.recording(
        "insertToken", 12,
        """
        checked AS (
            SELECT EXISTS (
                SELECT 1 FROM pro_user
                WHERE id = $2::uuid AND credential_version = $11::bigint AND state = 'active'
            ) OR EXISTS (
                SELECT 1 FROM api_token
                WHERE id = $12::uuid AND owner = $2::uuid AND revoked IS NULL
            ) AS is_issuer_valid
        ),
        changed AS (
            INSERT INTO api_token
                (id, owner, name, digest, created, expiry, last_used, revoked, scopes)
            SELECT $1::uuid, $2::uuid, $3::text, $4::bytea, $5::timestamptz, $6::timestamptz,
                   $7::timestamptz, $8::timestamptz, $9::text
            FROM checked WHERE is_issuer_valid AND (
                SELECT count(*) FROM (
                    SELECT 1 FROM api_token
                    WHERE owner = $2 AND revoked IS NULL AND (expiry IS NULL OR expiry > $5)
                    LIMIT $10::bigint
                ) AS live
            ) < $10
            ON CONFLICT DO NOTHING RETURNING 1
        )
        """, result: "SELECT (SELECT count(*) FROM changed), is_issuer_valid FROM checked")

    /// One SELECT for each index.
    static let forgetEndedTokens = Query(
        "forgetEndedTokens",
        """
        DELETE FROM api_token WHERE id IN (
            SELECT id FROM (
                SELECT id, revoked AS ended FROM api_token
                WHERE owner = $1 AND revoked IS NOT NULL
                UNION ALL
                SELECT id, expiry FROM api_token
                WHERE owner = $1 AND revoked IS NULL AND expiry <= $2
            ) AS ended_tokens
            ORDER BY ended DESC, id DESC OFFSET \(APIToken.endedKept)
        )
        """)

    static let tokenByDigest = Query(
        "tokenByDigest",
        """
        SELECT \(APIToken.columns.columns(of: "api_token")),
               \(User.columns.columns(of: "pro_user"))
        FROM api_token JOIN pro_user ON pro_user.id = api_token.owner WHERE digest = $1
        """)

    /// One statement, so that a token that is revoked at the same time is listed once.
    static let tokensOfOwner = Query(
        "tokensOfOwner",
        """
        SELECT * FROM (
            SELECT \(APIToken.columns) FROM api_token WHERE owner = $1 AND revoked IS NULL
            UNION ALL
            (
                SELECT \(APIToken.columns) FROM api_token
                WHERE owner = $1 AND revoked IS NOT NULL
                ORDER BY revoked DESC, id DESC LIMIT \(APIToken.endedKept)
            )
        ) AS listed
        ORDER BY created, id
        """)

    static let revokeToken = Query.recording(
        "revokeToken", 3,
        """
        changed AS (
            UPDATE api_token SET revoked = $1 WHERE id = $2 AND owner = $3 AND revoked IS NULL
            RETURNING 1
        )
        """)

    static let noteUse = Query(
        "noteUse",
        """
        UPDATE api_token SET last_used = $1
        WHERE id = $2 AND (last_used IS NULL OR last_used < $3)
        """)
}
