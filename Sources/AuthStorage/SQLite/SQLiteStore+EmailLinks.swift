internal import AuthCore

extension SQLiteStore: EmailLinkStore {
    func insert(
        _ link: EmailLink, at version: Int64, recording event: AuditEvent?
    ) async throws -> Bool {
        try await write { connection in
            guard
                try connection.run(
                    SQL.insertEmailLink, .blob(link.digest.bytes), .id(link.owner),
                    .text(link.purpose.rawValue), .instant(link.expiry), .integer(version)) == 1
            else { return false }
            if let event { try connection.record(event) }
            return true
        }
    }

    func emailLink(
        _ digest: APIKeyDigest, at now: Instant
    ) async throws -> (link: EmailLink, owner: User)? {
        try await read { connection in
            try connection.first(SQL.emailLink, .blob(digest.bytes), .instant(now)) { row in
                (
                    link: try EmailLink(row: row),
                    owner: try User(row: row, from: EmailLink.columnCount)
                )
            }
        }
    }

    func resetPassword(
        by digest: APIKeyDigest, of owner: UserID, to password: PasswordHash,
        revokingTokens: Bool, removingCredentials: Bool, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) { connection in
            guard let purpose = try connection.use(digest, of: owner, at: event.time),
                purpose.resetsPassword,
                try connection.run(
                    SQL.resetPassword, .text(password.encoded), .id(owner),
                    purpose == .passwordReset ? .instant(event.time) : .null) == 1
            else { return false }
            try connection.removeSessions(of: owner)
            if removingCredentials {
                for query in SQL.removeCredentials { try connection.run(query, .id(owner)) }
            }
            if revokingTokens { try connection.revokeTokens(of: owner, as: event) }
            return true
        }
    }

    func verifyEmail(
        by digest: APIKeyDigest, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) { connection in
            guard try connection.use(digest, of: owner, at: event.time) == .emailVerification,
                try connection.run(SQL.verifyEmail, .id(owner), .instant(event.time)) == 1
            else { return false }
            try connection.run(SQL.removeVerificationLinks, .id(owner))
            return true
        }
    }

    func sweepEmailLinks(before instant: Instant, limit: Int) async throws -> Int {
        try await write { try $0.run(SQL.sweepEmailLinks, .instant(instant), .limit(limit)) }
    }
}

extension SQLiteConnection {
    /// Removes the owner's links that set a password.
    func removeResetLinks(of owner: UserID) throws {
        try run(SQL.removeResetLinks, .id(owner))
    }

    /// Removes a link.
    /// - Returns: its purpose; `nil` if it is not there or has expired.
    fileprivate func use(
        _ digest: APIKeyDigest, of owner: UserID, at now: Instant
    ) throws -> EmailLink.Purpose? {
        try first(SQL.useEmailLink, .blob(digest.bytes), .id(owner), .instant(now)) { row in
            try row.parsed(0, EmailLink.Purpose.init)
        }
    }
}

private enum SQL {
    static let insertEmailLink = Query(
        "insertEmailLink",
        """
        INSERT INTO email_link (\(EmailLink.columns))
        SELECT ?1, ?2, ?3, ?4
        WHERE EXISTS (
            SELECT 1 FROM user WHERE id = ?2 AND credential_version = ?5 AND state = 'active'
        )
        ON CONFLICT DO NOTHING
        """)

    static let emailLink = Query(
        "emailLink",
        """
        SELECT \(EmailLink.columns.columns(of: "email_link")),
            \(User.columns.columns(of: "user"))
        FROM email_link JOIN user ON user.id = email_link.owner
        WHERE email_link.digest = ?1 AND email_link.expiry > ?2
        """)

    static let useEmailLink = Query(
        "useEmailLink",
        "DELETE FROM email_link WHERE digest = ?1 AND owner = ?2 AND expiry > ?3 RETURNING purpose")

    static let resetPassword = Query(
        "resetPassword",
        """
        UPDATE user SET password_hash = ?1, credential_version = credential_version + 1,
            email_verified = coalesce(email_verified, ?3)
        WHERE id = ?2 AND state = 'active'
        """)

    static let removeCredentials = ["passkey", "totp", "recovery_code", "identity", "webhook"].map {
        Query("remove \($0) of", "DELETE FROM \($0) WHERE owner = ?1")
    }

    static let verifyEmail = Query(
        "verifyEmail",
        """
        UPDATE user SET email_verified = coalesce(email_verified, ?2)
        WHERE id = ?1 AND state = 'active'
        """)

    static let removeVerificationLinks = Query(
        "removeVerificationLinks",
        "DELETE FROM email_link WHERE owner = ?1 AND purpose = 'email_verification'")

    static let removeResetLinks = Query(
        "removeResetLinks",
        "DELETE FROM email_link WHERE owner = ?1 AND purpose <> 'email_verification'")

    static let sweepEmailLinks = Query(
        "sweepEmailLinks",
        """
        DELETE FROM email_link WHERE digest IN
        (SELECT digest FROM email_link WHERE expiry < ?1 ORDER BY expiry LIMIT ?2)
        """)
}
