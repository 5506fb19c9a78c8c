internal import AuthCore

extension SQLiteStore: SigningKeyStore {
    /// Leaves out keys of unknown uses: they belong to a newer program.
    func keys() async throws -> [SealedKey] {
        try await read { try $0.all(SQL.keys, read: SealedKey.read) }
            .compactMap { $0 }
            .sorted(by: SealedKey.isListedBefore)
    }

    /// On the writer, whose own commits do not count (sqlite.org/pragma.html#pragma_data_version).
    func changeCount() async throws -> Int64 {
        try await writer.run { try $0.first(SQL.dataVersion) { try $0.integer(0) } ?? 0 }
    }

    func insertFirst(_ key: SealedKey) async throws -> Bool {
        try await write { try key.insert(into: $0) }
    }

    func rotate(
        to key: SealedKey, replacing replaced: ReplacedKeys, retiring: Instant,
        recording event: AuditEvent
    ) async throws -> Bool {
        try await write { connection in
            let use = SQLValue.text(key.use.rawValue)
            switch replaced {
            case .current(let id):
                let isCurrent =
                    try connection.run(SQL.retireKey, .instant(retiring), use, .text(id)) == 1
                guard isCurrent else { return false }
            case .all: try connection.run(SQL.retireKeys, .instant(retiring), use)
            }
            guard try key.insert(into: connection) else {
                throw StorageError.duplicateKey(id: key.id)
            }
            try connection.record(event)
            return true
        }
    }

    func reseal(
        recording event: AuditEvent,
        secrets: @escaping @Sendable (SealedSecret, _ sealed: [UInt8]) throws -> [UInt8],
        _ seal: @escaping @Sendable (SealedKey) throws -> [UInt8]
    ) async throws -> Int {
        try await write { connection in
            let keys = try connection.all(SQL.keys) { row in
                guard let key = try SealedKey.read(row) else { throw row.unreadable(1) }
                return key
            }
            for key in keys {
                try connection.run(SQL.resealKey, .blob(try seal(key)), .text(key.id))
            }
            let stored = try connection.all(SQL.secrets) { row in
                (secret: try row.parsed(0, SealedSecret.init), sealed: try row.blob(1))
            }
            for (secret, sealed) in stored {
                let new = SQLValue.blob(try secrets(secret, sealed))
                switch secret {
                case .webhook(let id): try connection.run(SQL.resealWebhook, new, .id(id))
                case .totp(let owner): try connection.run(SQL.resealTOTP, new, .id(owner))
                }
            }
            try connection.record(event)
            return keys.count
        }
    }

    func removeRetired(before instant: Instant) async throws -> Int {
        try await write { try $0.run(SQL.removeRetired, .instant(instant)) }
    }
}

extension SealedKey {
    /// Inserts it as the signing key of its use.
    /// - Returns: `false` when the use has a signing key or the id is there already.
    fileprivate func insert(into connection: SQLiteConnection) throws -> Bool {
        try connection.run(
            SQL.insertKey, .text(id), .text(use.rawValue), .blob(sealed), .instant(created)) == 1
    }
}

private enum SQL {
    static let keys = Query(
        "keys", "SELECT \(SealedKey.columns) FROM signing_key")

    static let dataVersion = Query("dataVersion", "PRAGMA data_version")

    /// Does nothing when the use has a signing key or the id is taken.
    static let insertKey = Query(
        "insertKey",
        """
        INSERT INTO signing_key (id, use, sealed, created) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO NOTHING
        """)

    static let retireKey = Query(
        "retireKey",
        "UPDATE signing_key SET retired = ?1 WHERE use = ?2 AND retired IS NULL AND id = ?3")

    static let retireKeys = Query(
        "retireKeys",
        """
        UPDATE signing_key SET retired = ?1
        WHERE use = ?2 AND (retired IS NULL OR retired > ?1)
        """)

    static let resealKey = Query(
        "resealKey", "UPDATE signing_key SET sealed = ?1 WHERE id = ?2")

    static let secrets = Query("secrets", SealedSecret.selection)

    static let resealWebhook = Query(
        "resealWebhook", "UPDATE webhook SET secret = ?1 WHERE id = ?2")

    static let resealTOTP = Query(
        "resealTOTP", "UPDATE totp SET secret = ?1 WHERE owner = ?2")

    static let removeRetired = Query(
        "removeRetired", "DELETE FROM signing_key WHERE retired < ?1")
}
