internal import AuthCore

extension PostgresStore: SigningKeyStore {
    /// Leaves out keys of unknown uses: they belong to a newer program.
    func keys() async throws -> [SealedKey] {
        try await all(SQL.keys, read: SealedKey.read).compactMap { $0 }
            .sorted(by: SealedKey.isListedBefore)
    }

    func changeCount() async throws -> Int64 {
        try await session.changeCount()
    }

    func insertFirst(_ key: SealedKey) async throws -> Bool {
        try await perform(
            PostgresWrite(
                [.lockingSigningKeys, PostgresStatement(SQL.insertKey, key.values)],
                repetition: .provable(PostgresStatement(SQL.keyByID, .text(key.id)), done: true),
                read: { $0[1].changes == 1 }))
    }

    func rotate(
        to key: SealedKey, replacing replaced: ReplacedKeys, retiring: Instant,
        recording event: AuditEvent
    ) async throws -> Bool {
        let values: [PostgresValue] = [
            .instant(retiring), .text(key.use.rawValue), .text(key.id),
        ]
        let retire =
            switch replaced {
            case .current(let id): PostgresStatement(SQL.retireKey, values + [.text(id)])
            case .all: PostgresStatement(SQL.retireKeys, values)
            }
        // While another key is current, the new one cannot be inserted.
        let isMade = try await record(
            event, SQL.rotate, key.values, after: [.lockingSigningKeys, retire], ifMade: true,
            read: { try $0.integer(0) > 0 }, isMade: { $0 })
        guard isMade || replaced != .all else { throw StorageError.duplicateKey(id: key.id) }
        return isMade
    }

    /// Reads the keys, and replaces them if they are still the same: `seal` may take long, and must
    /// not hold a connection.
    func reseal(
        recording event: AuditEvent,
        secrets: @escaping @Sendable (SealedSecret, _ sealed: [UInt8]) throws -> [UInt8],
        _ seal: @escaping @Sendable (SealedKey) throws -> [UInt8]
    ) async throws -> Int {
        for _ in 0..<Self.resealLimit {
            let keys = try await all(SQL.keys) { row in
                guard let key = try SealedKey.read(row) else { throw row.unreadable(1) }
                return key
            }
            let stored = try await all(SQL.secrets) { row in
                (secret: try row.parsed(0, SealedSecret.init), sealed: try row.blob(1))
            }
            let sealed = try keys.map(seal)
            let sealedSecrets = try stored.map { try secrets($0.secret, $0.sealed) }
            let isMade = try await record(
                event, SQL.reseal,
                [
                    .texts(keys.map(\.id)), .byteArrays(keys.map(\.sealed)), .byteArrays(sealed),
                    .texts(stored.map(\.secret.name)), .byteArrays(stored.map(\.sealed)),
                    .byteArrays(sealedSecrets),
                ],
                after: [.lockingSigningKeys], ifMade: true,
                read: { try $0.bool(1) },
                isMade: { $0 })
            if isMade { return keys.count }
        }
        throw StoreBusy("other servers have changed the signing keys at the same time")
    }

    private static let resealLimit = 10

    func removeRetired(before instant: Instant) async throws -> Int {
        try await perform(
            PostgresWrite(
                [.lockingSigningKeys, PostgresStatement(SQL.removeRetired, .instant(instant))],
                repetition: .harmless, read: { $0[1].changes }))
    }
}

extension PostgresStatement {
    /// Makes transactions that add or remove keys wait for each other.
    fileprivate static let lockingSigningKeys = PostgresStatement(
        SQL.lockKeys, .integer(PostgresLock.signingKeys))
}

extension SealedKey {
    fileprivate var values: [PostgresValue] {
        [.text(id), .text(use.rawValue), .bytes(sealed), .instant(created)]
    }
}

private enum SQL {
    static let keys = Query("keys", "SELECT \(SealedKey.columns) FROM signing_key")

    static let keyByID = Query("keyByID", "SELECT 1 FROM signing_key WHERE id = $1")

    static let lockKeys = Query("lockKeys", "SELECT 1 FROM pg_advisory_xact_lock($1)")

    /// Does nothing when the use has a signing key or the id is taken.
    private static let insertion = """
        INSERT INTO signing_key (id, use, sealed, created) VALUES ($1, $2, $3, $4)
        ON CONFLICT DO NOTHING
        """

    static let insertKey = Query("insertKey", insertion)

    static let rotate = Query.recording("rotate", 4, "changed AS (\(insertion) RETURNING 1)")

    /// Does nothing if there is a key with the id of the new one, which then cannot be inserted.
    static let retireKey = Query(
        "retireKey",
        """
        UPDATE signing_key SET retired = $1 WHERE use = $2 AND retired IS NULL AND id = $4
        AND NOT EXISTS (SELECT 1 FROM signing_key WHERE id = $3)
        """)

    static let retireKeys = Query(
        "retireKeys",
        """
        UPDATE signing_key SET retired = $1 WHERE use = $2 AND (retired IS NULL OR retired > $1)
        AND NOT EXISTS (SELECT 1 FROM signing_key WHERE id = $3)
        """)

    /// All or none. An event is recorded also when there are no keys.
    static let reseal = Query.recording(
        "reseal", 6,
        """
        given AS (
            SELECT * FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS g (id, old, new)
        ),
        given_secret AS (
            SELECT * FROM unnest($4::text[], $5::bytea[], $6::bytea[]) AS g (name, old, new)
        ),
        stored_secret (name, secret) AS (\(SealedSecret.selection)),
        checked AS (
            SELECT NOT EXISTS (
                SELECT 1 FROM given FULL JOIN signing_key USING (id)
                WHERE given.old IS DISTINCT FROM signing_key.sealed
            ) AND NOT EXISTS (
                SELECT 1 FROM given_secret FULL JOIN stored_secret USING (name)
                WHERE given_secret.old IS DISTINCT FROM stored_secret.secret
            ) AS is_same
        ),
        resealed AS (
            UPDATE signing_key SET sealed = given.new FROM given, checked
            WHERE signing_key.id = given.id AND is_same
        ),
        resealed_webhooks AS (
            UPDATE webhook SET secret = given_secret.new FROM given_secret, checked
            WHERE 'webhook/' || webhook.id = name AND webhook.secret = old AND is_same
        ),
        resealed_totp AS (
            UPDATE totp SET secret = given_secret.new FROM given_secret, checked
            WHERE 'totp/' || totp.owner = name AND totp.secret = old AND is_same
        ),
        changed AS (SELECT 1 FROM checked WHERE is_same)
        """, result: "SELECT (SELECT count(*) FROM changed), is_same FROM checked")

    static let secrets = Query("secrets", SealedSecret.selection)

    static let removeRetired = Query("removeRetired", "DELETE FROM signing_key WHERE retired < $1")
}
