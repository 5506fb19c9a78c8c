public import AuthCore

extension SQLiteStore: SigningKeyStore {
    /// Keys of a use that this program does not know belong to a newer one and are left alone.
    public func keys() async throws -> [SealedKey] {
        try await read { try $0.all(.keys, read: SealedKey.read) }
            .compactMap { $0 }
            .sorted(by: SealedKey.isListedBefore)
    }

    public func insertFirst(_ key: SealedKey) async throws -> Bool {
        try await write { try $0.run(.insertKey, key) == 1 }
    }

    public func rotate(
        to key: SealedKey, retiring: Instant, recording event: AuditEvent
    ) async throws {
        try await write { database in
            try database.run(.retireKey, .instant(retiring), .text(key.use.rawValue))
            guard try database.run(.insertKey, key) == 1 else {
                throw StorageError.duplicateKey(id: key.id)
            }
            try database.record(event)
        }
    }

    public func removeRetired(before instant: Instant) async throws -> Int {
        try await write { try $0.run(.removeRetired, .instant(instant)) }
    }
}

extension Database {
    fileprivate func run(_ query: Query, _ key: SealedKey) throws -> Int {
        try run(
            query, .text(key.id), .text(key.use.rawValue), .blob(key.sealed),
            .instant(key.created))
    }
}

extension SealedKey {
    /// - Returns: `nil` for a use that is not known here.
    fileprivate static func read(_ row: Row) throws -> SealedKey? {
        guard let use = KeyUse(rawValue: try row.text(1)) else { return nil }
        return SealedKey(
            id: try row.text(0), use: use, sealed: try row.blob(2),
            created: try row.instant(3), retired: try row.optionalInstant(4))
    }
}

extension Query {
    fileprivate static let keys = Query(
        "keys", "SELECT id, use, sealed, created, retired FROM signing_key")

    /// Does nothing when the use has a signing key or the id is taken.
    fileprivate static let insertKey = Query(
        "insertKey",
        """
        INSERT INTO signing_key (id, use, sealed, created) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO NOTHING
        """)

    fileprivate static let retireKey = Query(
        "retireKey", "UPDATE signing_key SET retired = ?1 WHERE use = ?2 AND retired IS NULL")

    fileprivate static let removeRetired = Query(
        "removeRetired", "DELETE FROM signing_key WHERE retired < ?1")
}
