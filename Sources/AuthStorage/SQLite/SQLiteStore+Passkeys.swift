internal import AuthCore

extension SQLiteStore: PasskeyStore {
    func insert(
        _ passkey: Passkey, limit: Int, recording event: AuditEvent, ending others: OtherSessions?
    ) async throws -> PasskeyInsertion {
        try await write { connection in
            if try connection.exists(
                SQL.passkeyAt, .id(passkey.owner), .limit(limit - 1))
            {
                return .limitReached
            }
            guard
                try connection.run(
                    SQL.insertPasskey, .id(passkey.id), .id(passkey.owner), .text(passkey.name),
                    .blob(passkey.credential), .text(passkey.publicKey),
                    .integer(passkey.signatureCount), .integer(passkey.isSynced ? 1 : 0),
                    .instant(passkey.created), SQLValue(passkey.lastUsed)) == 1
            else { return .credentialTaken }
            try connection.record(event)
            try connection.end(others, of: passkey.owner)
            return .inserted
        }
    }

    func passkeys(of owner: UserID) async throws -> [Passkey] {
        try await read {
            try $0.all(SQL.passkeysOfOwner, .id(owner), read: Passkey.init(row:))
        }
    }

    func holder(credential: [UInt8]) async throws -> (passkey: Passkey, owner: User)? {
        try await read { connection in
            try connection.first(SQL.passkeyByCredential, .blob(credential)) { row in
                (
                    passkey: try Passkey(row: row),
                    owner: try User(row: row, from: Passkey.columnCount)
                )
            }
        }
    }

    func rename(
        _ id: PasskeyID, of owner: UserID, to name: String, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.renamePasskey, .id(id), .id(owner), .text(name)) == 1
        }
    }

    func removePasskey(
        _ id: PasskeyID, of owner: UserID, keepingAccess: Bool, recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> PasskeyRemoval {
        try await write { connection in
            guard try connection.exists(SQL.passkeyByID, .id(id), .id(owner)) else {
                return .missing
            }
            if keepingAccess, try !connection.exists(SQL.otherAccess, .id(owner), .id(id)) {
                return .isLast
            }
            try connection.run(SQL.removePasskey, .id(id))
            try connection.record(event)
            try connection.end(others, of: owner)
            return .removed
        }
    }

    func noteUse(of id: PasskeyID, count: Int64, at now: Instant) async throws -> Bool {
        try await write {
            try $0.run(SQL.notePasskeyUse, .id(id), .integer(count), .instant(now)) == 1
        }
    }
}

private enum SQL {
    /// Whether the owner has more than so many.
    static let passkeyAt = Query(
        "passkeyAt", "SELECT 1 FROM passkey WHERE owner = ?1 LIMIT 1 OFFSET ?2")

    static let insertPasskey = Query(
        "insertPasskey",
        """
        INSERT INTO passkey (\(Passkey.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT DO NOTHING
        """)

    static let passkeysOfOwner = Query(
        "passkeysOfOwner",
        "SELECT \(Passkey.columns) FROM passkey WHERE owner = ?1 ORDER BY created, id")

    static let passkeyByCredential = Query(
        "passkeyByCredential",
        """
        SELECT \(Passkey.columns.columns(of: "passkey")), \(User.columns.columns(of: "user"))
        FROM passkey JOIN user ON user.id = passkey.owner WHERE passkey.credential = ?1
        """)

    static let passkeyByID = Query(
        "passkeyByID", "SELECT 1 FROM passkey WHERE id = ?1 AND owner = ?2")

    static let renamePasskey = Query(
        "renamePasskey", "UPDATE passkey SET name = ?3 WHERE id = ?1 AND owner = ?2")

    /// Whether the owner can log in without the passkey.
    static let otherAccess = Query(
        "otherAccess",
        """
        SELECT 1 FROM user WHERE id = ?1 AND (
            password_hash IS NOT NULL
            OR EXISTS (SELECT 1 FROM passkey WHERE owner = ?1 AND id <> ?2)
            OR EXISTS (SELECT 1 FROM identity WHERE owner = ?1)
        )
        """)

    static let removePasskey = Query("removePasskey", "DELETE FROM passkey WHERE id = ?1")

    static let notePasskeyUse = Query(
        "notePasskeyUse",
        """
        UPDATE passkey SET signature_count = ?2, last_used = ?3
        WHERE id = ?1 AND (signature_count < ?2 OR (signature_count = 0 AND ?2 = 0))
        """)
}
