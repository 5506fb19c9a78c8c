internal import AuthCore

extension PostgresStore: IdentityStore {
    func insert(
        _ identity: Identity, at version: Int64, recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> IdentityInsertion {
        try await record(
            event, SQL.insertIdentity, identity.values + [.integer(version)],
            after: [.lockingIdentity(identity), .lockingOwner(identity.owner)],
            ending: (others, identity.owner), ifMade: .inserted,
            read: { row in
                if try row.integer(0) > 0 { return .inserted }
                guard try row.bool(1) else { return .rejected }
                return try row.bool(2) ? .identityTaken : .providerTaken
            }, isMade: { $0 == .inserted })
    }

    func insert(
        _ user: User, with identity: Identity, recording event: AuditEvent
    ) async throws -> IdentityInsertion {
        try await record(
            event, SQL.insertUserWithIdentity, identity.values + user.values,
            after: [.lockingIdentity(identity)], ifMade: .inserted,
            read: { row in
                if try row.integer(0) > 0 { return .inserted }
                return try row.bool(1) ? .identityTaken : .emailTaken
            }, isMade: { $0 == .inserted })
    }

    func identities(of owner: UserID) async throws -> [Identity] {
        try await all(SQL.identitiesOfOwner, .id(owner), read: Identity.init(row:))
    }

    func holder(issuer: String, subject: String) async throws -> (
        identity: Identity, owner: User
    )? {
        try await lookUp(SQL.identityBySubject, .text(issuer), .text(subject)) { row in
            (
                identity: try Identity(row: row),
                owner: try User(row: row, from: Identity.columnCount)
            )
        }
    }

    func noteUse(
        of id: IdentityID, provider: String, email: String?, at now: Instant
    ) async throws {
        try await perform(
            PostgresWrite(
                [
                    PostgresStatement(
                        SQL.noteIdentityUse, .id(id), .text(provider), PostgresValue(email),
                        .instant(now))
                ], repetition: .harmless, read: { _ in }))
    }

    func removeIdentity(
        _ id: IdentityID, of owner: UserID, keepingAccess: Bool, recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> IdentityRemoval {
        try await record(
            event, SQL.removeIdentity, [.id(id), .id(owner), .bool(keepingAccess)],
            // Of two identities, or of an identity and a passkey, two removals at once leave one.
            after: [.lockingOwner(owner)], ending: (others, owner), ifMade: .removed,
            read: { row in
                guard try row.bool(1) else { return .missing }
                return try row.integer(0) > 0 ? .removed : .isLast
            }, isMade: { $0 == .removed })
    }
}

extension PostgresStatement {
    /// Makes insertions of one issuer and subject wait for each other, also those of a new user:
    /// that statement must not add the user if it cannot add the identity.
    fileprivate static func lockingIdentity(_ identity: Identity) -> PostgresStatement {
        PostgresStatement(SQL.lockIdentity, .text(identity.issuer), .text(identity.subject))
    }
}

extension Identity {
    fileprivate var values: [PostgresValue] {
        [
            .id(id), .id(owner), .text(provider), .text(issuer), .text(subject),
            PostgresValue(email), .instant(created), PostgresValue(lastUsed),
        ]
    }
}

private enum SQL {
    static let lockIdentity = Query(
        "lockIdentity",
        "SELECT 1 FROM pg_advisory_xact_lock(hashtextextended($2::text, hashtext($1::text)))")

    private static let identityExists =
        "EXISTS (SELECT 1 FROM identity WHERE issuer = $4::text AND subject = $5::text)"

    private static let identityRow = """
        $1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::timestamptz,
        $8::timestamptz
        """

    static let insertIdentity = Query.recording(
        "insertIdentity", 9,
        """
        checked AS (
            SELECT EXISTS (
                SELECT 1 FROM pro_user
                WHERE id = $2::uuid AND credential_version = $9::bigint AND state = 'active'
            ) AS is_active, \(identityExists) AS is_taken
        ),
        changed AS (
            INSERT INTO identity (\(Identity.columns)) SELECT \(identityRow)
            FROM checked WHERE is_active AND NOT is_taken ON CONFLICT DO NOTHING RETURNING 1
        )
        """, result: "SELECT (SELECT count(*) FROM changed), is_active, is_taken FROM checked")

    static let insertUserWithIdentity = Query.recording(
        "insertUserWithIdentity", 15,
        """
        checked AS (SELECT \(identityExists) AS is_taken),
        added AS (
            INSERT INTO pro_user (\(User.columns))
            SELECT $9::uuid, $10::text, $11::text, $12::text, $13::bigint, $14::timestamptz,
                   $15::timestamptz
            FROM checked WHERE NOT is_taken ON CONFLICT DO NOTHING RETURNING 1
        ),
        changed AS (
            INSERT INTO identity (\(Identity.columns)) SELECT \(identityRow) FROM added
            RETURNING 1
        )
        """, result: "SELECT (SELECT count(*) FROM changed), is_taken FROM checked")

    static let identitiesOfOwner = Query(
        "identitiesOfOwner",
        "SELECT \(Identity.columns) FROM identity WHERE owner = $1 ORDER BY created, id")

    static let identityBySubject = Query(
        "identityBySubject",
        """
        SELECT \(Identity.columns.columns(of: "identity")),
               \(User.columns.columns(of: "pro_user"))
        FROM identity JOIN pro_user ON pro_user.id = identity.owner
        WHERE identity.issuer = $1 AND identity.subject = $2
        """)

    static let noteIdentityUse = Query(
        "noteIdentityUse",
        "UPDATE identity SET provider = $2, email = $3, last_used = $4 WHERE id = $1")

    static let removeIdentity = Query.recording(
        "removeIdentity", 3,
        """
        checked AS (
            SELECT EXISTS (
                SELECT 1 FROM identity WHERE id = $1::uuid AND owner = $2::uuid
            ) AS is_there,
            NOT $3::boolean OR EXISTS (
                SELECT 1 FROM pro_user WHERE id = $2 AND password_hash IS NOT NULL
            ) OR EXISTS (
                SELECT 1 FROM passkey WHERE owner = $2
            ) OR EXISTS (
                SELECT 1 FROM identity WHERE owner = $2 AND id <> $1
            ) AS is_allowed
        ),
        changed AS (
            DELETE FROM identity USING checked
            WHERE id = $1 AND owner = $2 AND is_allowed RETURNING 1
        )
        """, result: "SELECT (SELECT count(*) FROM changed), is_there FROM checked")
}
