internal import AuthCore

extension Account {
    /// In the order in which ``init(row:)`` reads them.
    static let columns = """
        id, address, state, api_key_digest, credential_version, created, password_hash, owner, \
        quota, used
        """

    /// - Parameter row: one of ``columns``.
    init(row: Row) throws {
        self.init(
            id: try row.parsed(0, AccountID.init), address: try row.parsed(1, Address.init),
            state: try row.parsed(2, State.init), credential: try Credential(row: row),
            credentialVersion: try row.integer(4),
            owner: try row.optionallyParsed(7, UserID.init), quota: try row.integer(8),
            used: try row.integer(9), created: try row.instant(5))
    }
}

extension Credential {
    fileprivate init(row: Row) throws {
        if let encoded = try row.optionalText(6) {
            self = .password(PasswordHash(encoded: encoded))
        } else {
            self = .apiKey(try row.digest(3))
        }
    }
}

extension Row {
    /// SHA-256 of an API key or token.
    func digest(_ index: Int32) throws -> APIKeyDigest {
        let bytes = try blob(index)
        guard bytes.count == 32 else { throw unreadable(index) }
        return APIKeyDigest(bytes: bytes)
    }
}
