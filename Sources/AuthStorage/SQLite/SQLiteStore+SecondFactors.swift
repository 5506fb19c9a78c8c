internal import AuthCore

extension SQLiteStore: SecondFactorStore {
    func insert(
        _ totp: StoredTOTP, recoveryCodes: [APIKeyDigest], recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> Bool {
        try await change(recording: event, ending: (others, totp.owner)) { connection in
            guard
                try connection.run(
                    SQL.insertTOTP, .id(totp.owner), .blob(totp.sealedSecret),
                    .integer(totp.lastStep), .instant(totp.created)) == 1
            else { return false }
            try connection.replaceRecoveryCodes(of: totp.owner, by: recoveryCodes)
            return true
        }
    }

    func removeTOTP(
        of owner: UserID, recording event: AuditEvent, ending others: OtherSessions?
    ) async throws -> Bool {
        try await change(recording: event, ending: (others, owner)) { connection in
            guard try connection.run(SQL.removeTOTP, .id(owner)) == 1 else { return false }
            try connection.replaceRecoveryCodes(of: owner, by: [])
            return true
        }
    }

    func factors(of owner: UserID) async throws -> Factors {
        try await read {
            try $0.first(SQL.factors, .id(owner), read: Factors.init(row:))
                ?? Factors(totpCreated: nil, recoveryCodes: 0, passkeys: 0)
        }
    }

    func beginGuess(of owner: UserID, at now: Instant) async throws -> CodeGuess {
        try await write { connection in
            let row = try connection.first(SQL.totpOfOwner, .id(owner)) {
                (totp: try StoredTOTP(row: $0), forgotten: try $0.instant(4))
            }
            guard let row else { return .missing }
            let forgotten = min(row.forgotten, CodeGuesses.bound(at: now))
            guard let next = CodeGuesses.next(after: forgotten, at: now) else {
                if forgotten < row.forgotten {
                    try connection.run(SQL.setGuesses, .id(owner), .instant(forgotten))
                }
                return .limited(until: CodeGuesses.nextGuess(after: forgotten))
            }
            try connection.run(SQL.setGuesses, .id(owner), .instant(next))
            return .allowed(row.totp)
        }
    }

    func acceptCode(at step: Int64, of totp: StoredTOTP) async throws -> Bool {
        try await write {
            try $0.run(
                SQL.acceptCode, .id(totp.owner), .integer(step),
                .integer(CodeGuesses.intervalMilliseconds), .instant(totp.created)) == 1
        }
    }

    func replaceRecoveryCodes(
        of owner: UserID, by digests: [APIKeyDigest], recording event: AuditEvent,
        ending others: OtherSessions?
    ) async throws -> Bool {
        try await change(recording: event, ending: (others, owner)) { connection in
            guard try connection.exists(SQL.totpOfOwner, .id(owner)) else { return false }
            try connection.replaceRecoveryCodes(of: owner, by: digests)
            return true
        }
    }

    func spendRecoveryCode(
        _ digest: APIKeyDigest, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.spendRecoveryCode, .blob(digest.bytes), .id(owner)) == 1
        }
    }
}

extension SQLiteConnection {
    fileprivate func replaceRecoveryCodes(of owner: UserID, by digests: [APIKeyDigest]) throws {
        try run(SQL.removeRecoveryCodes, .id(owner))
        for digest in digests {
            try run(SQL.insertRecoveryCode, .blob(digest.bytes), .id(owner))
        }
    }
}

private enum SQL {
    static let insertTOTP = Query(
        "insertTOTP",
        """
        INSERT INTO totp (owner, secret, last_step, guesses_until, created)
        VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT DO NOTHING
        """)

    static let removeTOTP = Query("removeTOTP", "DELETE FROM totp WHERE owner = ?1")

    static let factors = Query(
        "factors",
        """
        SELECT (SELECT created FROM totp WHERE owner = ?1),
            (SELECT count(*) FROM recovery_code WHERE owner = ?1),
            (SELECT count(*) FROM passkey WHERE owner = ?1)
        """)

    static let totpOfOwner = Query(
        "totpOfOwner", "SELECT \(StoredTOTP.columns), guesses_until FROM totp WHERE owner = ?1")

    static let setGuesses = Query(
        "setGuesses", "UPDATE totp SET guesses_until = ?2 WHERE owner = ?1")

    static let acceptCode = Query(
        "acceptCode",
        """
        UPDATE totp SET last_step = ?2, guesses_until = guesses_until - ?3
        WHERE owner = ?1 AND last_step < ?2 AND created = ?4
        """)

    static let removeRecoveryCodes = Query(
        "removeRecoveryCodes", "DELETE FROM recovery_code WHERE owner = ?1")

    static let insertRecoveryCode = Query(
        "insertRecoveryCode", "INSERT INTO recovery_code (digest, owner) VALUES (?1, ?2)")

    static let spendRecoveryCode = Query(
        "spendRecoveryCode", "DELETE FROM recovery_code WHERE digest = ?1 AND owner = ?2")
}
