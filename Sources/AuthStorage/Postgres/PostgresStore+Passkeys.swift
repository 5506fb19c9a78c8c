internal import AuthCore

extension PostgresStore: PasskeyStore {
    func insert(
        _ passkey: Passkey, limit: Int, recording event: AuditEvent, ending others: OtherSessions?
    ) async throws -> PasskeyInsertion {
        try await record(
            event, SQL.insertPasskey,
            [
                .id(passkey.id), .id(passkey.owner), .text(passkey.name),
                .bytes(passkey.credential), .text(passkey.publicKey),
                .integer(passkey.signatureCount), .bool(passkey.isSynced),
                .instant(passkey.created), PostgresValue(passkey.lastUsed), .limit(limit),
            ],
            after: [.lockingOwner(passkey.owner)], ending: (others, passkey.owner),
            ifMade: .inserted,
            read: { row in
                guard try row.bool(1) else { return .limitReached }
                return try row.integer(0) > 0 ? .inserted : .credentialTaken
            }, isMade: { $0 == .inserted })
    }

    func passkeys(of owner: UserID) async throws -> [Passkey] {
        try await all(SQL.passkeysOfOwner, .id(owner), read: Passkey.init(row:))
    }

    func holder(credential: [UInt8]) async throws -> (passkey: Passkey, owner: User)? {
        try await lookUp(SQL.passkeyByCredential, .bytes(credential)) { row in
            (
                passkey: try Passkey(row: row),
                owner: try User(row: row, from: Passkey.columnCount)
            )
        }
    }

    func rename(
        _ id: PasskeyID, of owner: UserID, to name: String, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(
            SQL.renamePasskey, .id(id), .id(owner), .text(name), recording: event)
    }

    func removePasskey(
        _ id: PasskeyID, of owner: UserID, keepingAccess: Bool, recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> PasskeyRemoval {
        try await record(
            event, SQL.removePasskey, [.id(id), .id(owner), .bool(keepingAccess)],
            // Of two passkeys, or of a passkey and an identity, two removals at once leave one.
            after: [.lockingOwner(owner)], ending: (others, owner), ifMade: .removed,
            read: { row in
                guard try row.bool(1) else { return .missing }
                return try row.integer(0) > 0 ? .removed : .isLast
            }, isMade: { $0 == .removed })
    }

    func noteUse(of id: PasskeyID, count: Int64, at now: Instant) async throws -> Bool {
        try await perform(
            PostgresWrite(
                [
                    PostgresStatement(
                        SQL.notePasskeyUse, .id(id), .integer(count), .instant(now))
                ],
                // Repeated, it would find its own counter.
                repetition: .never, read: { $0[0].changes == 1 }))
    }
}

private enum SQL {
    /// Does nothing when the credential is there already.
    static let insertPasskey = Query.recording(
        "insertPasskey", 10,
        """
        checked AS (
            SELECT (SELECT count(*) FROM passkey WHERE owner = $2::uuid) < $10::bigint AS has_room
        ),
        changed AS (
            INSERT INTO passkey (\(Passkey.columns))
            SELECT $1::uuid, $2::uuid, $3::text, $4::bytea, $5::text, $6::bigint, $7::boolean,
                   $8::timestamptz, $9::timestamptz
            FROM checked WHERE has_room ON CONFLICT DO NOTHING RETURNING 1
        )
        """, result: "SELECT (SELECT count(*) FROM changed), has_room FROM checked")

    static let passkeysOfOwner = Query(
        "passkeysOfOwner",
        "SELECT \(Passkey.columns) FROM passkey WHERE owner = $1 ORDER BY created, id")

    static let passkeyByCredential = Query(
        "passkeyByCredential",
        """
        SELECT \(Passkey.columns.columns(of: "passkey")),
               \(User.columns.columns(of: "pro_user"))
        FROM passkey JOIN pro_user ON pro_user.id = passkey.owner WHERE passkey.credential = $1
        """)

    static let renamePasskey = Query.recording(
        "renamePasskey", 3,
        """
        changed AS (
            UPDATE passkey SET name = $3::text WHERE id = $1::uuid AND owner = $2::uuid
            RETURNING 1
        )
        """)

    static let removePasskey = Query.recording(
        "removePasskey", 3,
        """
        checked AS (
            SELECT EXISTS (
                SELECT 1 FROM passkey WHERE id = $1::uuid AND owner = $2::uuid
            ) AS is_there,
            NOT $3::boolean OR EXISTS (
                SELECT 1 FROM pro_user WHERE id = $2 AND password_hash IS NOT NULL
            ) OR EXISTS (
                SELECT 1 FROM passkey WHERE owner = $2 AND id <> $1
            ) OR EXISTS (
                SELECT 1 FROM identity WHERE owner = $2
            ) AS is_allowed
        ),
        changed AS (
            DELETE FROM passkey USING checked
            WHERE id = $1 AND owner = $2 AND is_allowed RETURNING 1
        )
        """, result: "SELECT (SELECT count(*) FROM changed), is_there FROM checked")

    static let notePasskeyUse = Query(
        "notePasskeyUse",
        """
        UPDATE passkey SET signature_count = $2, last_used = $3
        WHERE id = $1 AND (signature_count < $2 OR (signature_count = 0 AND $2 = 0))
        """)
}
