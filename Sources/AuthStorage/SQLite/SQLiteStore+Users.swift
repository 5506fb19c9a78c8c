internal import AuthCore

extension SQLiteStore: UserStore {
    func insert(_ user: User, recording event: AuditEvent) async throws -> Bool {
        try await change(recording: event) { try $0.insert(user) }
    }

    func user(id: UserID) async throws -> User? {
        try await read { try User.find(id, in: $0) }
    }

    func user(email: Email) async throws -> User? {
        try await read { try $0.first(SQL.userByEmail, .text(email.text), read: User.init(row:)) }
    }

    func replacePassword(
        of id: UserID, at version: Int64, with password: PasswordHash, revokingTokens: Bool,
        recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) { connection in
            guard
                try connection.run(
                    SQL.replacePassword, .text(password.encoded), .id(id), .integer(version)) == 1
            else { return false }
            try connection.removeSessions(of: id)
            if revokingTokens { try connection.revokeTokens(of: id, as: event) }
            return true
        }
    }

    func rehash(
        _ id: UserID, from old: PasswordHash, to new: PasswordHash
    ) async throws -> Bool {
        try await write { connection in
            try connection.run(SQL.rehashUser, .text(new.encoded), .id(id), .text(old.encoded)) == 1
        }
    }

    func endSessions(
        of id: UserID, at version: Int64, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) { connection in
            guard try connection.run(SQL.endSessions, .id(id), .integer(version)) == 1 else {
                return false
            }
            try connection.removeSessions(of: id)
            return true
        }
    }
}

extension SQLiteStore: UserDirectory {
    func setState(
        of id: UserID, to state: User.State, recording event: AuditEvent
    ) async throws -> Bool {
        try await write { connection in
            guard try connection.run(SQL.setUserState, .text(state.rawValue), .id(id)) == 1 else {
                // The user has that state already: nothing changed, and there is no event.
                return try connection.exists(SQL.userExists, .id(id))
            }
            if state == .disabled { try connection.removeSessions(of: id) }
            try connection.record(event)
            return true
        }
    }

    func users(after email: Email?, limit: Int) async throws -> [User] {
        let start = email?.text ?? ""
        return try await read {
            try $0.all(SQL.userPage, .text(start), .limit(limit), read: User.init(row:))
        }
    }
}

extension SQLiteConnection {
    /// - Returns: `false` when another user has the email.
    func insert(_ user: User) throws -> Bool {
        try run(
            SQL.insertUser, .id(user.id), .text(user.email.text), .text(user.state.rawValue),
            SQLValue(user.password?.encoded), .integer(user.credentialVersion),
            .instant(user.created), SQLValue(user.emailVerified)) == 1
    }
}

extension User {
    static func find(_ id: UserID, in connection: SQLiteConnection) throws -> User? {
        try connection.first(SQL.userByID, .id(id), read: User.init(row:))
    }
}

private enum SQL {
    /// Does nothing when the id or the email is there already.
    static let insertUser = Query(
        "insertUser",
        """
        INSERT INTO user (\(User.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT DO NOTHING
        """)

    static let userByID = Query(
        "userByID", "SELECT \(User.columns) FROM user WHERE id = ?1")

    static let userByEmail = Query(
        "userByEmail", "SELECT \(User.columns) FROM user WHERE email = ?1")

    static let replacePassword = Query(
        "replacePassword",
        """
        UPDATE user SET password_hash = ?1, credential_version = credential_version + 1
        WHERE id = ?2 AND credential_version = ?3 AND state = 'active'
        """)

    static let rehashUser = Query(
        "rehashUser", "UPDATE user SET password_hash = ?1 WHERE id = ?2 AND password_hash = ?3")

    static let endSessions = Query(
        "endSessions",
        """
        UPDATE user SET credential_version = credential_version + 1
        WHERE id = ?1 AND credential_version = ?2
        """)

    static let setUserState = Query(
        "setUserState",
        """
        UPDATE user
        SET credential_version = credential_version + (?1 = 'disabled'), state = ?1
        WHERE id = ?2 AND state <> ?1
        """)

    static let userExists = Query("userExists", "SELECT 1 FROM user WHERE id = ?1")

    static let userPage = Query(
        "userPage",
        "SELECT \(User.columns) FROM user WHERE email > ?1 ORDER BY email LIMIT ?2")
}
