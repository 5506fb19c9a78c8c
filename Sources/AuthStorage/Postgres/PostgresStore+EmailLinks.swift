internal import AuthCore

extension PostgresStore: EmailLinkStore {
    func insert(
        _ link: EmailLink, at version: Int64, recording event: AuditEvent?
    ) async throws -> Bool {
        let values: [PostgresValue] = [
            .bytes(link.digest.bytes), .id(link.owner), .text(link.purpose.rawValue),
            .instant(link.expiry), .integer(version),
        ]
        // It waits for what removes the owner's links.
        let locks = [PostgresStatement.lockingOwner(link.owner)]
        guard let event else {
            return try await perform(
                PostgresWrite(
                    locks + [PostgresStatement(SQL.insertEmailLink, values)],
                    repetition: .provable(
                        PostgresStatement(SQL.emailLinkExists, .bytes(link.digest.bytes)),
                        done: true),
                    read: { try $0[locks.count].first { try $0.integer(0) > 0 } ?? false }))
        }
        return try await record(
            event, SQL.insertRecordedEmailLink, values, after: locks, ifMade: true,
            read: { try $0.integer(0) > 0 }, isMade: { $0 })
    }

    func emailLink(
        _ digest: APIKeyDigest, at now: Instant
    ) async throws -> (link: EmailLink, owner: User)? {
        try await lookUp(SQL.emailLink, .bytes(digest.bytes), .instant(now)) { row in
            (
                link: try EmailLink(row: row),
                owner: try User(row: row, from: EmailLink.columnCount)
            )
        }
    }

    func resetPassword(
        by digest: APIKeyDigest, of owner: UserID, to password: PasswordHash,
        revokingTokens: Bool, removingCredentials: Bool, recording event: AuditEvent
    ) async throws -> Bool {
        try await replacePassword(
            of: owner, by: removingCredentials ? SQL.resetCredentials : SQL.resetPassword,
            [
                .text(password.encoded), .id(owner), .bytes(digest.bytes), .bool(revokingTokens),
            ], recording: event)
    }

    func verifyEmail(
        by digest: APIKeyDigest, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(
            SQL.verifyEmail, .id(owner), .bytes(digest.bytes), recording: event,
            after: [.lockingOwner(owner)])
    }

    func sweepEmailLinks(before instant: Instant, limit: Int) async throws -> Int {
        try await perform(
            PostgresWrite(
                [PostgresStatement(SQL.sweepEmailLinks, .instant(instant), .limit(limit))],
                repetition: .harmless, read: { $0[0].changes }))
    }
}

private enum SQL {
    private static let insert = """
        changed AS (
            INSERT INTO email_link (\(EmailLink.columns))
            SELECT $1::bytea, $2::uuid, $3::text, $4::timestamptz
            WHERE EXISTS (
                SELECT 1 FROM pro_user
                WHERE id = $2 AND credential_version = $5::bigint AND state = 'active'
            )
            ON CONFLICT DO NOTHING RETURNING 1
        )
        """

    static let insertEmailLink = Query(
        "insertEmailLink", "WITH \(insert) SELECT count(*) FROM changed")

    static let insertRecordedEmailLink = Query.recording("insertRecordedEmailLink", 5, insert)

    static let emailLinkExists = Query(
        "emailLinkExists", "SELECT 1 FROM email_link WHERE digest = $1")

    static let emailLink = Query(
        "emailLink",
        """
        SELECT \(EmailLink.columns.columns(of: "email_link")),
               \(User.columns.columns(of: "pro_user"))
        FROM email_link JOIN pro_user ON pro_user.id = email_link.owner
        WHERE email_link.digest = $1 AND email_link.expiry > $2
        """)

    /// The time of the event is $6. The link that is used is removed once: a statement that
    /// deletes a row twice removes it by one of the two only.
    private static let reset = """
        used AS (
            DELETE FROM email_link
            WHERE digest = $3::bytea AND owner = $2::uuid AND expiry > $6::timestamptz
                AND purpose <> 'email_verification'
            RETURNING purpose
        ),
        replaced AS (
            UPDATE pro_user
            SET password_hash = $1::text, credential_version = credential_version + 1,
                email_verified = CASE WHEN used.purpose = 'password_reset'
                    THEN coalesce(email_verified, $6) ELSE email_verified END
            FROM used
            WHERE id = $2 AND state = 'active'
            RETURNING id
        )
        """

    static let resetPassword = Query.replacingPassword("resetPassword", reset, exceptLink: "$3")

    static let resetCredentials = Query.replacingPassword(
        "resetCredentials",
        ([reset]
            + ["passkey", "totp", "recovery_code", "identity", "webhook"].map {
                "removed_\($0) AS (DELETE FROM \($0) USING replaced WHERE owner = replaced.id)"
            }).joined(separator: ",\n"), exceptLink: "$3")

    static let verifyEmail = Query.recording(
        "verifyEmail", 2,
        """
        used AS (
            DELETE FROM email_link
            WHERE digest = $2::bytea AND owner = $1::uuid AND expiry > $4::timestamptz
                AND purpose = 'email_verification'
            RETURNING 1
        ),
        changed AS (
            UPDATE pro_user SET email_verified = coalesce(email_verified, $4)
            FROM used
            WHERE id = $1 AND state = 'active'
            RETURNING id
        ),
        removed AS (
            DELETE FROM email_link USING changed
            WHERE owner = changed.id AND digest <> $2 AND purpose = 'email_verification'
        )
        """)

    /// Rows that another server is removing are skipped.
    static let sweepEmailLinks = Query(
        "sweepEmailLinks",
        """
        DELETE FROM email_link WHERE digest = ANY (ARRAY(
            SELECT digest FROM email_link WHERE expiry < $1 ORDER BY expiry LIMIT $2
            FOR UPDATE SKIP LOCKED
        ))
        """)
}
