internal import AuthCore

extension PostgresStore: SecondFactorStore {
    func insert(
        _ totp: StoredTOTP, recoveryCodes: [APIKeyDigest], recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> Bool {
        try await record(
            event, SQL.insertTOTP,
            [
                .id(totp.owner), .bytes(totp.sealedSecret), .integer(totp.lastStep),
                .instant(totp.created), .byteArrays(recoveryCodes.map(\.bytes)),
            ], after: [.lockingOwner(totp.owner)], ending: (others, totp.owner), ifMade: true,
            read: { try $0.integer(0) > 0 }, isMade: { $0 })
    }

    func removeTOTP(
        of owner: UserID, recording event: AuditEvent, ending others: OtherSessions?
    ) async throws -> Bool {
        try await change(
            SQL.removeTOTP, .id(owner), recording: event, after: [.lockingOwner(owner)],
            ending: (others, owner))
    }

    func factors(of owner: UserID) async throws -> Factors {
        try await lookUp(SQL.factors, .id(owner)) { try Factors(row: $0) }
            ?? Factors(totpCreated: nil, recoveryCodes: 0, passkeys: 0)
    }

    func beginGuess(of owner: UserID, at now: Instant) async throws -> CodeGuess {
        let statements = [
            // The statement after it sees the guesses that came before.
            PostgresStatement(SQL.lockTOTP, .id(owner)),
            PostgresStatement(
                SQL.beginGuess, .id(owner), .instant(now),
                .integer(CodeGuesses.intervalMilliseconds),
                // The latest time after which another guess is allowed.
                .instant(CodeGuesses.latest(at: now)), .instant(CodeGuesses.bound(at: now))),
        ]
        return try await perform(
            PostgresWrite(
                // Executed twice, it counts two guesses.
                statements, repetition: .harmless,
                read: { results in
                    try results[1].first { row in
                        let isLimited = try row.bool(5)
                        return isLimited
                            ? .limited(until: CodeGuesses.nextGuess(after: try row.instant(4)))
                            : .allowed(try StoredTOTP(row: row))
                    } ?? .missing
                }))
    }

    func acceptCode(at step: Int64, of totp: StoredTOTP) async throws -> Bool {
        try await perform(
            PostgresWrite(
                [
                    PostgresStatement(
                        SQL.acceptCode, .id(totp.owner), .integer(step),
                        .integer(CodeGuesses.intervalMilliseconds), .instant(totp.created))
                ],
                // Repeated, it would find its own step.
                repetition: .never, read: { $0[0].changes == 1 }))
    }

    func replaceRecoveryCodes(
        of owner: UserID, by digests: [APIKeyDigest], recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> Bool {
        try await change(
            SQL.replaceRecoveryCodes, .id(owner), .byteArrays(digests.map(\.bytes)),
            recording: event, after: [.lockingOwner(owner)], ending: (others, owner))
    }

    func spendRecoveryCode(
        _ digest: APIKeyDigest, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(
            SQL.spendRecoveryCode, .bytes(digest.bytes), .id(owner), recording: event)
    }
}

private enum SQL {
    /// Does nothing when the owner has one-time codes.
    static let insertTOTP = Query.recording(
        "insertTOTP", 5,
        """
        changed AS (
            INSERT INTO totp (owner, secret, last_step, guesses_until, created)
            VALUES ($1::uuid, $2::bytea, $3::bigint, $4::timestamptz, $4::timestamptz)
            ON CONFLICT DO NOTHING RETURNING 1
        ),
        codes AS (
            INSERT INTO recovery_code (digest, owner)
            SELECT digest, $1 FROM unnest($5::bytea[]) AS given (digest), changed
        )
        """)

    static let removeTOTP = Query.recording(
        "removeTOTP", 1,
        """
        changed AS (DELETE FROM totp WHERE owner = $1::uuid RETURNING 1),
        codes AS (
            DELETE FROM recovery_code WHERE owner = $1 AND EXISTS (SELECT 1 FROM changed)
        )
        """)

    static let factors = Query(
        "factors",
        """
        SELECT (SELECT created FROM totp WHERE owner = $1::uuid),
               (SELECT count(*) FROM recovery_code WHERE owner = $1),
               (SELECT count(*) FROM passkey WHERE owner = $1)
        """)

    static let lockTOTP = Query("lockTOTP", "SELECT 1 FROM totp WHERE owner = $1 FOR UPDATE")

    /// Of the row before the guess: its columns, and whether no guess was allowed. A time after $5
    /// counts, and is stored, as $5.
    static let beginGuess = Query(
        "beginGuess",
        """
        WITH counted AS (
            UPDATE totp
            SET guesses_until = CASE
                WHEN guesses_until > $4::timestamptz THEN $5::timestamptz
                ELSE greatest(guesses_until, $2::timestamptz)
                    + $3::bigint * interval '1 millisecond'
            END
            WHERE owner = $1::uuid AND (guesses_until <= $4 OR guesses_until > $5)
        )
        SELECT \(StoredTOTP.columns), least(guesses_until, $5), guesses_until > $4
        FROM totp WHERE owner = $1
        """)

    static let acceptCode = Query(
        "acceptCode",
        """
        UPDATE totp SET last_step = $2,
            guesses_until = guesses_until - $3::bigint * interval '1 millisecond'
        WHERE owner = $1 AND last_step < $2 AND created = $4
        """)

    static let replaceRecoveryCodes = Query.recording(
        "replaceRecoveryCodes", 2,
        """
        found AS (SELECT 1 FROM totp WHERE owner = $1::uuid),
        removed AS (
            DELETE FROM recovery_code WHERE owner = $1 AND EXISTS (SELECT 1 FROM found)
        ),
        changed AS (
            INSERT INTO recovery_code (digest, owner)
            SELECT digest, $1 FROM unnest($2::bytea[]) AS given (digest), found RETURNING 1
        )
        """)

    static let spendRecoveryCode = Query.recording(
        "spendRecoveryCode", 2,
        """
        changed AS (
            DELETE FROM recovery_code WHERE digest = $1::bytea AND owner = $2::uuid RETURNING 1
        )
        """)
}
