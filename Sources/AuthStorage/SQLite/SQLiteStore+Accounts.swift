public import AuthCore

extension SQLiteStore: AccountStore {
    public func insert(_ account: Account) async throws -> Bool {
        try await write { database in
            try database.run(
                .insertAccount, .text(account.id.text), .text(account.address.description),
                .text(account.state.rawValue), .blob(account.credential.digest.bytes),
                .integer(account.credentialVersion), .integer(account.created.milliseconds)) == 1
        }
    }

    public func account(id: AccountID) async throws -> Account? {
        try await read { try $0.first(.accountByID, .text(id.text), read: Account.init(row:)) }
    }

    public func account(address: Address) async throws -> Account? {
        let text = address.description
        return try await read {
            try $0.first(.accountByAddress, .text(text), read: Account.init(row:))
        }
    }

    public func account(apiKey: APIKeyDigest) async throws -> Account? {
        try await read {
            try $0.first(.accountByAPIKey, .blob(apiKey.bytes), read: Account.init(row:))
        }
    }

    public func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential
    ) async throws -> Bool {
        try await write { database in
            try database.run(
                .replaceCredential, .blob(credential.digest.bytes), .text(id.text),
                .integer(version)) == 1
        }
    }

    public func setState(of id: AccountID, to state: Account.State) async throws -> Bool {
        try await write { database in
            try database.run(.setState, .text(state.rawValue), .text(id.text)) == 1
        }
    }

    public func delete(_ id: AccountID, at version: Int64?) async throws -> Bool {
        try await write { database in
            let address = try database.first(
                .deleteAccount, .text(id.text), SQLValue(version)
            ) { try $0.text(0) }
            guard let address else { return false }
            try database.run(.retireAddress, .text(address))
            return true
        }
    }

    public func free(_ address: Address) async throws -> Bool {
        try await write { try $0.run(.freeAddress, .text(address.description)) == 1 }
    }
}

extension SQLiteStore: AccountDirectory {
    public func accounts(after address: Address?, limit: Int) async throws -> [Account] {
        // No address is empty, so every one comes after the empty text.
        let start = address?.description ?? ""
        let limit = Int64(max(0, limit))
        return try await read {
            try $0.all(
                .accountPage, .text(start), .integer(limit), read: Account.init(row:))
        }
    }
}

extension Account {
    /// - Parameter row: the columns of `Query.accountColumns`.
    fileprivate init(row: Row) throws {
        guard let id = AccountID(try row.text(0)) else { throw row.unreadable(0) }
        guard let address = Address(parsing: try row.text(1)) else { throw row.unreadable(1) }
        guard let state = State(rawValue: try row.text(2)) else { throw row.unreadable(2) }
        let digest = try row.blob(3)
        guard digest.count == 32 else { throw row.unreadable(3) }
        self.init(
            id: id, address: address, state: state,
            credential: .apiKey(APIKeyDigest(bytes: digest)),
            credentialVersion: try row.integer(4),
            created: Instant(milliseconds: try row.integer(5)))
    }
}

extension Query {
    private static let accountColumns =
        "id, address, state, api_key_digest, credential_version, created"

    /// Does nothing when the id, the address or the key is there already.
    fileprivate static let insertAccount = Query(
        "insertAccount",
        """
        INSERT INTO account (\(accountColumns))
        SELECT ?1, ?2, ?3, ?4, ?5, ?6
        WHERE NOT EXISTS (SELECT 1 FROM retired_address WHERE address = ?2)
        ON CONFLICT DO NOTHING
        """)

    fileprivate static let accountByID = Query(
        "accountByID", "SELECT \(accountColumns) FROM account WHERE id = ?1")

    fileprivate static let accountByAddress = Query(
        "accountByAddress", "SELECT \(accountColumns) FROM account WHERE address = ?1")

    fileprivate static let accountByAPIKey = Query(
        "accountByAPIKey", "SELECT \(accountColumns) FROM account WHERE api_key_digest = ?1")

    fileprivate static let accountPage = Query(
        "accountPage",
        "SELECT \(accountColumns) FROM account WHERE address > ?1 ORDER BY address LIMIT ?2")

    fileprivate static let replaceCredential = Query(
        "replaceCredential",
        """
        UPDATE OR IGNORE account
        SET api_key_digest = ?1, credential_version = credential_version + 1
        WHERE id = ?2 AND credential_version = ?3 AND state = 'active'
        """)

    fileprivate static let setState = Query(
        "setState",
        """
        UPDATE account
        SET credential_version = credential_version + (state = 'active' AND ?1 = 'disabled'),
            state = ?1
        WHERE id = ?2
        """)

    fileprivate static let deleteAccount = Query(
        "deleteAccount",
        """
        DELETE FROM account WHERE id = ?1 AND (?2 IS NULL OR credential_version = ?2)
        RETURNING address
        """)

    fileprivate static let retireAddress = Query(
        "retireAddress",
        "INSERT INTO retired_address (address) VALUES (?1) ON CONFLICT DO NOTHING")

    fileprivate static let freeAddress = Query(
        "freeAddress", "DELETE FROM retired_address WHERE address = ?1")
}
