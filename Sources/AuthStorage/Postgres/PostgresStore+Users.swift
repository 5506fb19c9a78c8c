internal import AuthCore

extension PostgresStore: UserStore {
    func insert(_ user: User, recording event: AuditEvent) async throws -> Bool {
        try await record(
            event, SQL.insertUser, user.values, ifMade: true, read: { try $0.integer(0) > 0 },
            isMade: { $0 })
    }

    func user(id: UserID) async throws -> User? {
        try await lookUp(SQL.userByID, .id(id)) { try User(row: $0) }
    }

    func user(email: Email) async throws -> User? {
        try await lookUp(SQL.userByEmail, .text(email.text)) { try User(row: $0) }
    }

    func replacePassword(
        of id: UserID, at version: Int64, with password: PasswordHash, revokingTokens: Bool,
        recording event: AuditEvent
    ) async throws -> Bool {
        try await replacePassword(
            of: id, by: SQL.replacePassword,
            [.text(password.encoded), .id(id), .integer(version), .bool(revokingTokens)],
            recording: event)
    }

    /// - Parameters:
    ///   - query: made by ``Query/replacingPassword(_:_:exceptLink:)``.
    ///   - values: its four parameters.
    func replacePassword(
        of id: UserID, by query: Query, _ values: [PostgresValue], recording event: AuditEvent
    ) async throws -> Bool {
        let writeID = WriteID.make(at: event.time)
        let revoked: [String]? = try await perform(
            PostgresWrite(
                [
                    // The statement after it sees every token that was created before, and every
                    // session.
                    .lockingOwner(id),
                    PostgresStatement(query, values + event.values(writeID)),
                ],
                repetition: .provable(PostgresWrite<[String]?>.proof(writeID), done: []),
                read: { results in
                    let rows = try results[1].all { row in
                        (isToken: try row.bool(0), id: try row.uuid(1))
                    }
                    return rows.isEmpty ? nil : rows.filter(\.isToken).map(\.id)
                }))
        guard let revoked else { return false }
        for token in revoked {
            report(
                AuditEvent(
                    .tokenRevoked, time: event.time, actor: event.actor, subject: token,
                    client: event.client, requestID: event.requestID))
        }
        report(event)
        return true
    }

    func rehash(
        _ id: UserID, from old: PasswordHash, to new: PasswordHash
    ) async throws -> Bool {
        try await rehash(id, from: old, to: new, by: SQL.rehashUser, proof: SQL.userWithHash)
    }

    func endSessions(
        of id: UserID, at version: Int64, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(
            SQL.endSessions, .id(id), .integer(version), recording: event,
            // The statement after it sees every session that was opened before.
            after: [.lockingOwner(id)])
    }
}

extension PostgresStore: UserDirectory {
    func setState(
        of id: UserID, to state: User.State, recording event: AuditEvent
    ) async throws -> Bool {
        try await record(
            event, SQL.setUserState, [.text(state.rawValue), .id(id)],
            after: [.lockingOwner(id)], ifMade: StateChange.made, read: StateChange.init(row:),
            isMade: { $0 == .made })
            != .absent
    }

    func users(after email: Email?, limit: Int) async throws -> [User] {
        try await all(SQL.userPage, .text(email?.text ?? ""), .limit(limit)) { try User(row: $0) }
    }
}

extension User {
    /// In the order of ``columns``.
    var values: [PostgresValue] {
        [
            .id(id), .text(email.text), .text(state.rawValue), PostgresValue(password?.encoded),
            .integer(credentialVersion), .instant(created), PostgresValue(emailVerified),
        ]
    }
}

extension PostgresStore {
    /// Replaces a hash unless it has changed since it was read.
    /// - Parameters:
    ///   - update: takes the new hash, the id and the old hash.
    ///   - proof: finds the row by its id and the new hash.
    func rehash<Kind>(
        _ id: Identifier<Kind>, from old: PasswordHash, to new: PasswordHash, by update: Query,
        proof: Query
    ) async throws -> Bool {
        try await perform(
            PostgresWrite(
                [PostgresStatement(update, .text(new.encoded), .id(id), .text(old.encoded))],
                repetition: .provable(
                    PostgresStatement(proof, .id(id), .text(new.encoded)), done: true),
                read: { $0[0].changes == 1 }))
    }
}

/// The result of changing the state of an account or a user, or the quota of an account.
enum StateChange: Sendable {
    case made
    /// It already has that state or quota: nothing has changed, and there is no event.
    case needless
    case absent

    /// - Parameter row: the number of changed rows, and whether the row exists.
    init(row: PostgresRow) throws {
        if try row.integer(0) > 0 {
            self = .made
        } else {
            self = try row.bool(1) ? .needless : .absent
        }
    }
}

extension Query {
    /// Removes the sessions of the users that a table expression has changed, and their links that
    /// set a password.
    /// - Parameter digest: the link that the expression removes itself.
    fileprivate static func removedSessions(
        of users: String, exceptLink digest: String? = nil
    ) -> String {
        """
        ended_sessions AS (
            DELETE FROM user_session USING \(users) WHERE user_session.owner = \(users).id
        ),
        removed_links AS (
            DELETE FROM email_link USING \(users)
            WHERE email_link.owner = \(users).id AND purpose <> 'email_verification'
            \(digest.map { "AND digest <> \($0)" } ?? "")
        )
        """
    }

    /// A query that sets a user's password, ends the sessions and, if $4 is true, the API tokens.
    /// The events of the tokens come before that of the password.
    /// - Parameters:
    ///   - change: with four parameters. The expression named `replaced` has the user's id. The
    ///     parameters of the event follow; its time is $6.
    ///   - digest: as in ``removedSessions(of:exceptLink:)``.
    static func replacingPassword(
        _ name: String, _ change: String, exceptLink digest: String? = nil
    ) -> Query {
        recording(
            name, 4,
            """
            \(change),
            \(removedSessions(of: "replaced", exceptLink: digest)),
            revoked AS (
                UPDATE api_token SET revoked = $6
                FROM replaced
                WHERE $4 AND owner = replaced.id AND revoked IS NULL
                    AND (expiry IS NULL OR expiry > $6)
                RETURNING api_token.id
            ),
            ended AS (
                INSERT INTO audit (kind, time, actor, subject, client, request_id, network)
                SELECT 'token_revoked', $6::timestamptz, $7::text, revoked.id::text, $9::text,
                       $10::text, $11::text
                FROM revoked
                RETURNING 1
            ),
            changed AS (SELECT id FROM replaced, (SELECT count(*) FROM ended) AS all_ended)
            """,
            result: """
                SELECT false AS is_token, id FROM changed
                UNION ALL SELECT true, id FROM revoked
                """)
    }
}

private enum SQL {
    /// Does nothing when the id or the email is there already.
    static let insertUser = Query.recording(
        "insertUser", 7,
        """
        changed AS (
            INSERT INTO pro_user (\(User.columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT DO NOTHING RETURNING 1
        )
        """)

    static let userByID = Query(
        "userByID", "SELECT \(User.columns) FROM pro_user WHERE id = $1")

    static let userByEmail = Query(
        "userByEmail", "SELECT \(User.columns) FROM pro_user WHERE email = $1")

    static let replacePassword = Query.replacingPassword(
        "replacePassword",
        """
        replaced AS (
            UPDATE pro_user SET password_hash = $1, credential_version = credential_version + 1
            WHERE id = $2 AND credential_version = $3 AND state = 'active'
            RETURNING id
        )
        """)

    static let rehashUser = Query(
        "rehashUser", "UPDATE pro_user SET password_hash = $1 WHERE id = $2 AND password_hash = $3")

    static let userWithHash = Query(
        "userWithHash", "SELECT 1 FROM pro_user WHERE id = $1 AND password_hash = $2")

    static let endSessions = Query.recording(
        "endSessions", 2,
        """
        changed AS (
            UPDATE pro_user SET credential_version = credential_version + 1
            WHERE id = $1 AND credential_version = $2
            RETURNING id
        ),
        \(Query.removedSessions(of: "changed"))
        """)

    static let setUserState = Query.recording(
        "setUserState", 2,
        """
        changed AS (
            UPDATE pro_user
            SET credential_version = credential_version + ($1 = 'disabled')::integer, state = $1
            WHERE id = $2 AND state <> $1
            RETURNING id
        ),
        \(Query.removedSessions(of: "changed"))
        """,
        result: """
            SELECT (SELECT count(*) FROM changed), EXISTS (SELECT 1 FROM pro_user WHERE id = $2)
            """)

    static let userPage = Query(
        "userPage",
        """
        SELECT \(User.columns) FROM pro_user WHERE email > $1
        ORDER BY email LIMIT $2
        """)
}
