internal import AuthCore

extension SQLiteStore: HashLoginStore {
    func insert(_ login: HashLogin, recording event: AuditEvent) async throws -> Bool {
        try await change(recording: event) { connection in
            try connection.run(
                SQL.insertHashLogin, .text(login.email.text), .text(login.url.text),
                .integer(login.credentialVersion), .instant(login.created)) == 1
        }
    }

    func hashLogin(email: Email) async throws -> HashLogin? {
        try await read {
            try $0.first(SQL.hashLoginByEmail, .text(email.text), read: HashLogin.init(row:))
        }
    }

    func endLogins(
        of email: Email, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.endLogins, .text(email.text), SQLValue(version)) == 1
        }
    }
}

extension HashLogin {
    fileprivate static let columns = "email, url, credential_version, created"

    fileprivate init(row: Row) throws {
        self.init(
            email: try row.parsed(0, Email.init), url: HashURL(text: try row.text(1)),
            credentialVersion: try row.integer(2), created: try row.instant(3))
    }
}

private enum SQL {
    /// Does nothing when the email is there already.
    static let insertHashLogin = Query(
        "insertHashLogin",
        """
        INSERT INTO hash_login (\(HashLogin.columns)) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO NOTHING
        """)

    static let hashLoginByEmail = Query(
        "hashLoginByEmail", "SELECT \(HashLogin.columns) FROM hash_login WHERE email = ?1")

    static let endLogins = Query(
        "endLogins",
        """
        UPDATE hash_login SET credential_version = credential_version + 1
        WHERE email = ?1 AND (?2 IS NULL OR credential_version = ?2)
        """)
}
