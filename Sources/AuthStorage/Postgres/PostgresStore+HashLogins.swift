internal import AuthCore

extension PostgresStore: HashLoginStore {
    func insert(_ login: HashLogin, recording event: AuditEvent) async throws -> Bool {
        try await change(
            SQL.insertHashLogin, .text(login.email.text), .text(login.url.text),
            .integer(login.credentialVersion), .instant(login.created), recording: event)
    }

    func hashLogin(email: Email) async throws -> HashLogin? {
        try await first(SQL.hashLoginByEmail, .text(email.text), read: HashLogin.init(row:))
    }

    func endLogins(
        of email: Email, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(
            SQL.endLogins, .text(email.text), PostgresValue(version), recording: event)
    }
}

extension PostgresStore: HashLoginDirectory {
    func hashLogins(after email: Email?, limit: Int) async throws -> [HashLogin] {
        try await all(
            SQL.hashLoginPage, .text(email?.text ?? ""), .limit(limit),
            read: HashLogin.init(row:))
    }

    func deleteHashLogin(of email: Email, recording event: AuditEvent) async throws -> Bool {
        try await change(SQL.deleteHashLogin, .text(email.text), recording: event)
    }
}

private enum SQL {
    /// Does nothing when the email is registered already.
    static let insertHashLogin = Query.recording(
        "insertHashLogin", 4,
        """
        changed AS (
            INSERT INTO hash_login (\(HashLogin.columns)) VALUES ($1, $2, $3, $4)
            ON CONFLICT (email) DO UPDATE
            SET url = excluded.url, created = excluded.created, deleted = false,
                credential_version = hash_login.credential_version + excluded.credential_version
            WHERE hash_login.deleted
            RETURNING 1
        )
        """)

    static let hashLoginByEmail = Query(
        "hashLoginByEmail",
        "SELECT \(HashLogin.columns) FROM hash_login WHERE email = $1 AND NOT deleted")

    static let hashLoginPage = Query(
        "hashLoginPage",
        """
        SELECT \(HashLogin.columns) FROM hash_login
        WHERE email > $1 AND NOT deleted ORDER BY email LIMIT $2
        """)

    /// The URL may be private.
    static let deleteHashLogin = Query.recording(
        "deleteHashLogin", 1,
        """
        changed AS (
            UPDATE hash_login SET deleted = true, url = '' WHERE email = $1 AND NOT deleted
            RETURNING 1
        )
        """)

    static let endLogins = Query.recording(
        "endLogins", 2,
        """
        changed AS (
            UPDATE hash_login SET credential_version = credential_version + 1
            WHERE email = $1 AND NOT deleted AND ($2::bigint IS NULL OR credential_version = $2)
            RETURNING 1
        )
        """)
}
