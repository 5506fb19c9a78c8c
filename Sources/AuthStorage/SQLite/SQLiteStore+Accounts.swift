internal import AuthCore

extension SQLiteStore: AccountStore {
    func insert(
        _ account: Account, on domain: DomainID?, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion {
        try await write { database in
            if let domain {
                guard try database.exists(SQL.hostedDomain, .id(domain)) else { return .domainGone }
            }
            if let owner = account.owner, let limit {
                guard try database.hasRoom(SQL.ownedAccountAt, owner, limit) else {
                    return .limitReached
                }
            }
            guard try database.insert(account) else { return .addressTaken }
            try database.record(event)
            return .inserted
        }
    }

    func account(id: AccountID) async throws -> Account? {
        try await read { try $0.first(SQL.accountByID, .id(id), read: Account.init(row:)) }
    }

    func account(address: Address) async throws -> Account? {
        let text = address.description
        return try await read {
            try $0.first(SQL.accountByAddress, .text(text), read: Account.init(row:))
        }
    }

    func account(apiKey: APIKeyDigest) async throws -> Account? {
        try await read {
            try $0.first(SQL.accountByAPIKey, .blob(apiKey.bytes), read: Account.init(row:))
        }
    }

    func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential,
        recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) { database in
            try database.run(
                SQL.replaceCredential, credential.digestValue, credential.passwordValue, .id(id),
                .integer(version)) == 1
        }
    }

    func rehash(
        _ id: AccountID, from old: PasswordHash, to new: PasswordHash
    ) async throws -> Bool {
        try await write { database in
            try database.run(
                SQL.rehashAccount, .text(new.encoded), .id(id), .text(old.encoded)) == 1
        }
    }

    func delete(
        _ id: AccountID, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        try await change(recording: event) { database in
            let address = try database.first(
                SQL.deleteAccount, .id(id), SQLValue(version)
            ) { try $0.text(0) }
            guard let address else { return false }
            try database.run(SQL.retireAddress, .text(address))
            return true
        }
    }
}

extension SQLiteConnection {
    /// - Returns: `false` when the id, the address or the key is there already.
    fileprivate func insert(_ account: Account) throws -> Bool {
        try namingTheOwner {
            try run(
                SQL.insertAccount, .id(account.id), .text(account.address.description),
                .text(account.state.rawValue), account.credential.digestValue,
                .integer(account.credentialVersion), .instant(account.created),
                account.credential.passwordValue, SQLValue(account.owner?.text),
                .integer(account.quota), .integer(account.used))
        } == 1
    }
}

extension Credential {
    fileprivate var digestValue: SQLValue {
        switch self {
        case .apiKey(let digest): .blob(digest.bytes)
        case .password: .null
        }
    }

    fileprivate var passwordValue: SQLValue {
        switch self {
        case .apiKey: .null
        case .password(let hash): .text(hash.encoded)
        }
    }
}

private enum SQL {
    /// Does nothing when the id, the address or the key is there already.
    static let insertAccount = Query(
        "insertAccount",
        """
        INSERT INTO account (\(Account.columns))
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
        WHERE NOT EXISTS (SELECT 1 FROM retired_address WHERE address = ?2)
        ON CONFLICT DO NOTHING
        """)

    static let hostedDomain = Query(
        "hostedDomain", "SELECT 1 FROM domain WHERE id = ?1")

    static let ownedAccountAt = Query(
        "ownedAccountAt", "SELECT 1 FROM account WHERE owner = ?1 LIMIT 1 OFFSET ?2")

    static let accountByID = Query(
        "accountByID", "SELECT \(Account.columns) FROM account WHERE id = ?1")

    static let accountByAddress = Query(
        "accountByAddress", "SELECT \(Account.columns) FROM account WHERE address = ?1")

    static let accountByAPIKey = Query(
        "accountByAPIKey", "SELECT \(Account.columns) FROM account WHERE api_key_digest = ?1")

    static let replaceCredential = Query(
        "replaceCredential",
        """
        UPDATE OR IGNORE account
        SET api_key_digest = ?1, password_hash = ?2, credential_version = credential_version + 1
        WHERE id = ?3 AND credential_version = ?4 AND state = 'active'
        """)

    static let rehashAccount = Query(
        "rehashAccount",
        "UPDATE account SET password_hash = ?1 WHERE id = ?2 AND password_hash = ?3")

    static let deleteAccount = Query(
        "deleteAccount",
        """
        DELETE FROM account WHERE id = ?1 AND (?2 IS NULL OR credential_version = ?2)
        RETURNING address
        """)

    static let retireAddress = Query(
        "retireAddress",
        "INSERT INTO retired_address (address) VALUES (?1) ON CONFLICT DO NOTHING")
}
