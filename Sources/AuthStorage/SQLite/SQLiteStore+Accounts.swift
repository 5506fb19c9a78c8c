internal import AuthCore

extension SQLiteStore: AccountStore {
    func insert(
        _ account: Account, on domain: DomainID?, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion {
        try await write { connection in
            if let domain {
                guard try connection.exists(SQL.hostedDomain, .id(domain)) else {
                    return .domainGone
                }
            }
            if let owner = account.owner, let limit {
                let past = event.time.advanced(by: .zero - Account.retirementPeriod)
                guard limit > 0,
                    try !connection.exists(SQL.ownedAccountAt, .id(owner), .limit(limit - 1)),
                    try !connection.exists(
                        SQL.madeAccountAt, .id(owner), .instant(past),
                        .limit(min(limit, .max / 2) * 2 - 1))
                else { return .limitReached }
            }
            guard try account.insert(into: connection) else { return .addressTaken }
            try connection.record(
                event, of: account.id, at: account.address.description, quota: account.quota)
            return .inserted
        }
    }

    func obstacle(
        to address: Address, of owner: UserID?, limit: Int?
    ) async throws -> AccountObstacle? {
        let text = address.description
        return try await read { connection in
            if let owner, let limit {
                guard limit > 0,
                    try !connection.exists(SQL.ownedAccountAt, .id(owner), .limit(limit - 1))
                else { return .limitReached }
            }
            return try connection.exists(SQL.usedAddress, .text(text)) ? .addressTaken : nil
        }
    }

    func account(id: AccountID) async throws -> Account? {
        try await read { try $0.first(SQL.accountByID, .id(id), read: Account.init(row:)) }
    }

    func account(id: AccountID, unlessEnded tokenID: String) async throws -> Account? {
        try await read {
            try $0.first(
                SQL.accountOfToken, .id(id), .text(tokenID), read: Account.init(row:))
        }
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
        try await change(recording: event) { connection in
            try connection.run(
                SQL.replaceCredential, credential.digestValue, credential.passwordValue, .id(id),
                .integer(version)) == 1
        }
    }

    func rehash(
        _ id: AccountID, from old: PasswordHash, to new: PasswordHash
    ) async throws -> Bool {
        try await write { connection in
            try connection.run(
                SQL.rehashAccount, .text(new.encoded), .id(id), .text(old.encoded)) == 1
        }
    }

    func delete(
        _ id: AccountID, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        try await write { connection in
            let deleted = try connection.first(SQL.deleteAccount, .id(id), SQLValue(version)) {
                (address: try $0.text(0), owner: try $0.optionalText(1))
            }
            guard let deleted else { return false }
            try connection.run(
                SQL.retireAddress, .text(deleted.address), SQLValue(deleted.owner),
                .instant(event.time), .id(id))
            try connection.record(event, of: id, at: deleted.address)
            return true
        }
    }
}

extension SQLiteStore: AccountDirectory {
    func accounts(after address: Address?, limit: Int) async throws -> [Account] {
        // Every address sorts after the empty text.
        let start = address?.description ?? ""
        return try await read {
            try $0.all(SQL.accountPage, .text(start), .limit(limit), read: Account.init(row:))
        }
    }

    func setState(
        of id: AccountID, to state: Account.State, recording event: AuditEvent
    ) async throws -> Bool {
        try await write { connection in
            let changed = try connection.first(SQL.setState, .text(state.rawValue), .id(id)) {
                try $0.text(0)
            }
            guard let changed else {
                // The account has that state already: nothing changed, and there is no event.
                return try connection.exists(SQL.accountExists, .id(id))
            }
            try connection.record(event, of: id, at: changed)
            return true
        }
    }

    func setQuota(
        of id: AccountID, to quota: Int64, recording event: AuditEvent
    ) async throws -> Bool {
        try await write { connection in
            let changed = try connection.first(SQL.setQuota, .integer(quota), .id(id)) {
                try $0.text(0)
            }
            guard let changed else { return try connection.exists(SQL.accountExists, .id(id)) }
            try connection.record(event, of: id, at: changed, quota: quota)
            return true
        }
    }

    func free(_ address: Address, recording event: AuditEvent) async throws -> Bool {
        let text = address.description
        return try await write { connection in
            let freed = try connection.first(SQL.freeAddress, .text(text)) { row in
                try row.id(0) as AccountID
            }
            guard let freed else { return false }
            try connection.record(event, of: freed, at: text)
            return true
        }
    }

    func agentDomain(otherThan domain: Domain) async throws -> Domain? {
        try await read { connection in
            try connection.first(SQL.agentDomains) { try $0.domain(otherThan: domain) } ?? nil
        }
    }

    func note(_ reports: [UsageReport]) async throws -> [Bool] {
        try await write { connection in
            try reports.map { report in
                try connection.run(
                    SQL.noteUsage, .integer(report.used), .text(report.address.description)) == 1
            }
        }
    }
}

extension Account {
    /// - Returns: `false` when the id, the address or the key is there already, or the address was
    ///   retired.
    fileprivate func insert(into connection: SQLiteConnection) throws -> Bool {
        try connection.run(
            SQL.insertAccount, .id(id), .text(address.description), .text(state.rawValue),
            credential.digestValue, .integer(credentialVersion), .instant(created),
            credential.passwordValue, SQLValue(owner?.text), .integer(quota), .integer(used)) == 1
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
        "hostedDomain", "SELECT 1 FROM domain WHERE id = ?1 AND verification = 'verified'")

    static let ownedAccountAt = Query(
        "ownedAccountAt", "SELECT 1 FROM account WHERE owner = ?1 LIMIT 1 OFFSET ?2")

    /// The owner's accounts, and those deleted after ?2.
    static let madeAccountAt = Query(
        "madeAccountAt",
        """
        SELECT 1 FROM (
            SELECT 1 FROM account WHERE owner = ?1
            UNION ALL
            SELECT 1 FROM retired_address WHERE owner = ?1 AND retired > ?2
        ) LIMIT 1 OFFSET ?3
        """)

    static let usedAddress = Query(
        "usedAddress",
        """
        SELECT 1 FROM account WHERE address = ?1
        UNION ALL
        SELECT 1 FROM retired_address WHERE address = ?1
        """)

    static let accountByID = Query(
        "accountByID", "SELECT \(Account.columns) FROM account WHERE id = ?1")

    static let accountOfToken = Query(
        "accountOfToken",
        """
        SELECT \(Account.columns) FROM account
        WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM spent_challenge WHERE id = ?2)
        """)

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
        RETURNING address, owner
        """)

    static let retireAddress = Query(
        "retireAddress",
        """
        INSERT INTO retired_address (address, owner, retired, account) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO NOTHING
        """)

    static let accountPage = Query(
        "accountPage",
        "SELECT \(Account.columns) FROM account WHERE address > ?1 ORDER BY address LIMIT ?2")

    static let setState = Query(
        "setState",
        """
        UPDATE account
        SET credential_version = credential_version + (?1 = 'disabled'), state = ?1
        WHERE id = ?2 AND state <> ?1
        RETURNING address
        """)

    static let setQuota = Query(
        "setQuota", "UPDATE account SET quota = ?1 WHERE id = ?2 AND quota <> ?1 RETURNING address")

    /// The first and the last domain in order, each of which the index finds at once.
    static let agentDomains = Query(
        "agentDomains",
        """
        SELECT (SELECT min(domain) FROM account WHERE api_key_digest IS NOT NULL),
               (SELECT max(domain) FROM account WHERE api_key_digest IS NOT NULL)
        """)

    static let accountExists = Query(
        "accountExists", "SELECT 1 FROM account WHERE id = ?1")

    static let noteUsage = Query(
        "noteUsage", "UPDATE account SET used = ?1 WHERE address = ?2")

    static let freeAddress = Query(
        "freeAddress", "DELETE FROM retired_address WHERE address = ?1 RETURNING account")
}
