internal import AuthCore

extension SQLiteStore: IdentityStore {
    func insert(
        _ identity: Identity, at version: Int64, recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> IdentityInsertion {
        try await write { connection in
            guard
                try connection.exists(
                    SQL.activeOwner, .id(identity.owner), .integer(version))
            else { return .rejected }
            if try connection.exists(
                SQL.identityExists, .text(identity.issuer), .text(identity.subject))
            {
                return .identityTaken
            }
            guard try connection.insert(identity) else { return .providerTaken }
            try connection.record(event)
            try connection.end(others, of: identity.owner)
            return .inserted
        }
    }

    func insert(
        _ user: User, with identity: Identity, recording event: AuditEvent
    ) async throws -> IdentityInsertion {
        try await write { connection in
            if try connection.exists(
                SQL.identityExists, .text(identity.issuer), .text(identity.subject))
            {
                return .identityTaken
            }
            guard try connection.insert(user) else { return .emailTaken }
            _ = try connection.insert(identity)
            try connection.record(event)
            return .inserted
        }
    }

    func identities(of owner: UserID) async throws -> [Identity] {
        try await read {
            try $0.all(SQL.identitiesOfOwner, .id(owner), read: Identity.init(row:))
        }
    }

    func holder(issuer: String, subject: String) async throws -> (
        identity: Identity, owner: User
    )? {
        try await read { connection in
            try connection.first(SQL.identityBySubject, .text(issuer), .text(subject)) { row in
                (
                    identity: try Identity(row: row),
                    owner: try User(row: row, from: Identity.columnCount)
                )
            }
        }
    }

    func noteUse(
        of id: IdentityID, provider: String, email: String?, at now: Instant
    ) async throws {
        _ = try await write {
            try $0.run(
                SQL.noteIdentityUse, .id(id), .text(provider), SQLValue(email), .instant(now))
        }
    }

    func removeIdentity(
        _ id: IdentityID, of owner: UserID, keepingAccess: Bool, recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> IdentityRemoval {
        try await write { connection in
            guard try connection.exists(SQL.identityByID, .id(id), .id(owner)) else {
                return .missing
            }
            if keepingAccess,
                try !connection.exists(SQL.accessWithoutIdentity, .id(owner), .id(id))
            {
                return .isLast
            }
            try connection.run(SQL.removeIdentity, .id(id))
            try connection.record(event)
            try connection.end(others, of: owner)
            return .removed
        }
    }
}

extension SQLiteConnection {
    /// - Returns: `false` when the owner has an identity of the issuer, or another one the subject.
    fileprivate func insert(_ identity: Identity) throws -> Bool {
        try run(
            SQL.insertIdentity, .id(identity.id), .id(identity.owner), .text(identity.provider),
            .text(identity.issuer), .text(identity.subject), SQLValue(identity.email),
            .instant(identity.created), SQLValue(identity.lastUsed)) == 1
    }
}

private enum SQL {
    static let activeOwner = Query(
        "activeOwner",
        "SELECT 1 FROM user WHERE id = ?1 AND credential_version = ?2 AND state = 'active'")

    static let identityExists = Query(
        "identityExists", "SELECT 1 FROM identity WHERE issuer = ?1 AND subject = ?2")

    static let insertIdentity = Query(
        "insertIdentity",
        """
        INSERT INTO identity (\(Identity.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT DO NOTHING
        """)

    static let identitiesOfOwner = Query(
        "identitiesOfOwner",
        "SELECT \(Identity.columns) FROM identity WHERE owner = ?1 ORDER BY created, id")

    static let identityBySubject = Query(
        "identityBySubject",
        """
        SELECT \(Identity.columns.columns(of: "identity")), \(User.columns.columns(of: "user"))
        FROM identity JOIN user ON user.id = identity.owner
        WHERE identity.issuer = ?1 AND identity.subject = ?2
        """)

    static let noteIdentityUse = Query(
        "noteIdentityUse",
        "UPDATE identity SET provider = ?2, email = ?3, last_used = ?4 WHERE id = ?1")

    static let identityByID = Query(
        "identityByID", "SELECT 1 FROM identity WHERE id = ?1 AND owner = ?2")

    /// Whether the owner can log in without the identity.
    static let accessWithoutIdentity = Query(
        "accessWithoutIdentity",
        """
        SELECT 1 FROM user WHERE id = ?1 AND (
            password_hash IS NOT NULL
            OR EXISTS (SELECT 1 FROM passkey WHERE owner = ?1)
            OR EXISTS (SELECT 1 FROM identity WHERE owner = ?1 AND id <> ?2)
        )
        """)

    static let removeIdentity = Query("removeIdentity", "DELETE FROM identity WHERE id = ?1")
}
