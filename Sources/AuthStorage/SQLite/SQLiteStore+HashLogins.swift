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

extension SQLiteStore: HashLoginDirectory {
    func hashLogins(after email: Email?, limit: Int) async throws -> [HashLogin] {
        let start = email?.text ?? ""
        return try await read {
            try $0.all(SQL.hashLoginPage, .text(start), .limit(limit), read: HashLogin.init(row:))
        }
    }

    func deleteHashLogin(of email: Email, recording event: AuditEvent) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.deleteHashLogin, .text(email.text)) == 1
        }
    }
}

private enum SQL {
    /// Does nothing when the email is registered already.
    static let insertHashLogin = Query(
        "insertHashLogin",
        """
        INSERT INTO hash_login (\(HashLogin.columns)) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE
        SET url = ?2, credential_version = credential_version + ?3, created = ?4, deleted = 0
        WHERE deleted
        """)

    static let hashLoginByEmail = Query(
        "hashLoginByEmail",
        "SELECT \(HashLogin.columns) FROM hash_login WHERE email = ?1 AND NOT deleted")

    static let hashLoginPage = Query(
        "hashLoginPage",
        """
        SELECT \(HashLogin.columns) FROM hash_login
        WHERE email > ?1 AND NOT deleted ORDER BY email LIMIT ?2
        """)

    /// The URL may be private.
    static let deleteHashLogin = Query(
        "deleteHashLogin",
        "UPDATE hash_login SET deleted = 1, url = '' WHERE email = ?1 AND NOT deleted")

    static let endLogins = Query(
        "endLogins",
        """
        UPDATE hash_login SET credential_version = credential_version + 1
        WHERE email = ?1 AND NOT deleted AND (?2 IS NULL OR credential_version = ?2)
        """)
}
