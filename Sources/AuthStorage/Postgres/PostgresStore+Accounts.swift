internal import AuthCore

extension PostgresStore: AccountStore {
    func insert(
        _ account: Account, on domain: DomainID?, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion {
        let creation = AccountCreation(
            account: account, domain: domain, limit: limit, event: event)
        switch try await batches.insert(creation) {
        case .inserted:
            disk.note(nil, at: .now)
            report(event)
            return .inserted
        case .undecided(let isUncertain):
            return try await insertAlone(creation, isUncertain: isUncertain)
        }
    }

    /// - Parameter isUncertain: whether it may have been inserted.
    private func insertAlone(
        _ creation: AccountCreation, isUncertain: Bool
    ) async throws -> AccountInsertion {
        // The removal of a domain and all changes of the owner's number of accounts take these
        // locks first, so that they cannot race.
        var locks: [PostgresStatement] = []
        if let domain = creation.domain {
            locks.append(PostgresStatement(SQL.keepDomain, .id(domain)))
        }
        if let owner = creation.account.owner { locks.append(.lockingOwner(owner)) }
        return try await record(
            creation.event, SQL.insertAccount, creation.values, after: locks, ifMade: .inserted,
            read: { row in
                guard try row.bool(1) else { return .domainGone }
                guard try row.bool(2) else { return .limitReached }
                return try row.integer(0) > 0 ? .inserted : .addressTaken
            }, isMade: { $0 == .inserted }, attempted: isUncertain ? creation.writeID : nil)
    }

    func obstacle(
        to address: Address, of owner: UserID?, limit: Int?
    ) async throws -> AccountObstacle? {
        let bound = owner == nil ? nil : limit.map { Int64(max(0, $0)) }
        return try await lookUp(
            SQL.obstacle, .text(address.description), .id(owner), PostgresValue(bound)
        ) { row in
            guard try row.bool(0) else { return .limitReached }
            return try row.bool(1) ? .addressTaken : nil
        } ?? nil
    }

    func account(id: AccountID) async throws -> Account? {
        try await lookUp(SQL.accountByID, .id(id)) { try Account(row: $0) }
    }

    func account(id: AccountID, unlessEnded tokenID: String) async throws -> Account? {
        try await lookUp(SQL.accountOfToken, .id(id), .text(tokenID)) { try Account(row: $0) }
    }

    func account(address: Address) async throws -> Account? {
        try await lookUp(SQL.accountByAddress, .text(address.description)) { try Account(row: $0) }
    }

    func account(apiKey: APIKeyDigest) async throws -> Account? {
        try await lookUp(SQL.accountByAPIKey, .bytes(apiKey.bytes)) { try Account(row: $0) }
    }

    func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential,
        recording event: AuditEvent
    ) async throws -> Bool {
        do {
            return try await change(
                SQL.replaceCredential, credential.digestParameter, credential.passwordParameter,
                .id(id), .integer(version), recording: event)
        } catch StorageError.failed(SQL.replaceCredential.name, .sqlState("23505")) {
            // Another account has the key.
            return false
        }
    }

    func rehash(
        _ id: AccountID, from old: PasswordHash, to new: PasswordHash
    ) async throws -> Bool {
        try await rehash(id, from: old, to: new, by: SQL.rehashAccount, proof: SQL.accountWithHash)
    }

    func delete(
        _ id: AccountID, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        // Creations lock the owner before they wait for an address, too.
        try await change(
            SQL.deleteAccount, .id(id), PostgresValue(version), .instant(event.time),
            recording: event, after: [PostgresStatement(SQL.lockOwnerOfAccount, .id(id))])
    }
}

extension PostgresStore: AccountDirectory {
    func accounts(after address: Address?, limit: Int) async throws -> [Account] {
        // Every address sorts after the empty text.
        try await all(SQL.accountPage, .text(address?.description ?? ""), .limit(limit)) {
            try Account(row: $0)
        }
    }

    func setState(
        of id: AccountID, to state: Account.State, recording event: AuditEvent
    ) async throws -> Bool {
        try await record(
            event, SQL.setState, [.text(state.rawValue), .id(id)],
            ifMade: StateChange.made, read: StateChange.init(row:), isMade: { $0 == .made })
            != .absent
    }

    func setQuota(
        of id: AccountID, to quota: Int64, recording event: AuditEvent
    ) async throws -> Bool {
        try await record(
            event, SQL.setQuota, [.integer(quota), .id(id)],
            ifMade: StateChange.made, read: StateChange.init(row:), isMade: { $0 == .made })
            != .absent
    }

    func free(_ address: Address, recording event: AuditEvent) async throws -> Bool {
        try await change(SQL.freeAddress, .text(address.description), recording: event)
    }

    func agentDomain(otherThan domain: Domain) async throws -> Domain? {
        try await first(SQL.agentDomains) { try $0.domain(otherThan: domain) } ?? nil
    }

    func note(_ reports: [UsageReport]) async throws -> [Bool] {
        try await perform(
            PostgresWrite(
                [
                    PostgresStatement(
                        SQL.noteUsage, .texts(reports.map(\.address.description)),
                        .integers(reports.map(\.used)))
                ], repetition: .harmless, read: { try $0[0].all { try $0.bool(0) } }))
    }
}

private enum SQL {
    /// Does nothing if the id, the address or the key exists already; a deleted account keeps its
    /// address. Also does nothing if the domain $11 is not verified, or the owner has $12 accounts,
    /// or twice as many together with those deleted after $13.
    static let insertAccount = Query.recording(
        "insertAccount", 13,
        """
        checked AS (
            SELECT
                $11::uuid IS NULL OR EXISTS (
                    SELECT 1 FROM domain WHERE id = $11 AND verification = 'verified'
                ) AS has_domain,
                $12::bigint IS NULL OR coalesce((
                    SELECT accounts < $12 AND accounts - $12 + (
                        SELECT count(*) FROM (
                            SELECT 1 FROM account
                            WHERE owner = $8::uuid AND state = 'deleted'
                                AND deleted > $13::timestamptz
                            LIMIT 2 * least($12, \(Int64.max / 2))
                        ) AS retired
                    ) < $12
                    FROM pro_user WHERE id = $8
                ), true) AS is_within_limit
        ),
        changed AS (
            INSERT INTO account (\(Account.columns))
            SELECT $1::uuid, $2::text, $3::text, $4::bytea, $5::bigint, $6::timestamptz, $7::text,
                   $8::uuid, $9::bigint, $10::bigint
            FROM checked WHERE has_domain AND is_within_limit
            ON CONFLICT DO NOTHING RETURNING id, address, quota
        )
        """, isFed: true,
        result: "SELECT (SELECT count(*) FROM changed), has_domain, is_within_limit FROM checked")

    /// A user that does not exist has no limit: inserting the account fails.
    static let obstacle = Query(
        "obstacle",
        """
        SELECT $3::bigint IS NULL
                   OR coalesce((SELECT accounts < $3 FROM pro_user WHERE id = $2), true),
               EXISTS (SELECT 1 FROM account WHERE address = $1)
        """)

    static let keepDomain = Query("keepDomain", "SELECT 1 FROM domain WHERE id = $1 FOR SHARE")

    static let accountByID = Query(
        "accountByID",
        "SELECT \(Account.columns) FROM account WHERE id = $1 AND state <> 'deleted'")

    static let accountOfToken = Query(
        "accountOfToken",
        """
        SELECT \(Account.columns) FROM account
        WHERE id = $1 AND state <> 'deleted'
            AND NOT EXISTS (SELECT 1 FROM spent_challenge WHERE id = $2)
        """)

    static let accountByAddress = Query(
        "accountByAddress",
        "SELECT \(Account.columns) FROM account WHERE address = $1 AND state <> 'deleted'")

    static let accountByAPIKey = Query(
        "accountByAPIKey", "SELECT \(Account.columns) FROM account WHERE api_key_digest = $1")

    static let replaceCredential = Query.recording(
        "replaceCredential", 4,
        """
        changed AS (
            UPDATE account
            SET api_key_digest = $1, password_hash = $2, credential_version = credential_version + 1
            WHERE id = $3 AND credential_version = $4 AND state = 'active'
            RETURNING 1
        )
        """)

    static let rehashAccount = Query(
        "rehashAccount",
        "UPDATE account SET password_hash = $1 WHERE id = $2 AND password_hash = $3")

    static let accountWithHash = Query(
        "accountWithHash", "SELECT 1 FROM account WHERE id = $1 AND password_hash = $2")

    static let lockOwnerOfAccount = Query(
        "lockOwnerOfAccount",
        """
        SELECT 1 FROM pro_user WHERE id = (SELECT owner FROM account WHERE id = $1)
        FOR NO KEY UPDATE
        """)

    static let deleteAccount = Query.recording(
        "deleteAccount", 3,
        """
        changed AS (
            UPDATE account
            SET state = 'deleted', api_key_digest = NULL, password_hash = NULL, deleted = $3
            WHERE id = $1 AND state <> 'deleted'
                AND ($2::bigint IS NULL OR credential_version = $2)
            RETURNING id, address, NULL::bigint AS quota
        )
        """, isFed: true)

    static let accountPage = Query(
        "accountPage",
        """
        SELECT \(Account.columns) FROM account WHERE address > $1 AND state <> 'deleted'
        ORDER BY address LIMIT $2
        """)

    static let setState = Query.recording(
        "setState", 2,
        """
        changed AS (
            UPDATE account
            SET credential_version = credential_version + ($1 = 'disabled')::integer, state = $1
            WHERE id = $2 AND state <> $1 AND state <> 'deleted'
            RETURNING id, address, NULL::bigint AS quota
        )
        """, isFed: true,
        result: """
            SELECT (SELECT count(*) FROM changed),
                   EXISTS (SELECT 1 FROM account WHERE id = $2 AND state <> 'deleted')
            """)

    static let setQuota = Query.recording(
        "setQuota", 2,
        """
        changed AS (
            UPDATE account SET quota = $1
            WHERE id = $2 AND quota <> $1 AND state <> 'deleted'
            RETURNING id, address, quota
        )
        """, isFed: true,
        result: """
            SELECT (SELECT count(*) FROM changed),
                   EXISTS (SELECT 1 FROM account WHERE id = $2 AND state <> 'deleted')
            """)

    /// The first and the last domain in order, each of which the index finds at once.
    static let agentDomains = Query(
        "agentDomains",
        """
        SELECT (SELECT min(domain) FROM account WHERE api_key_digest IS NOT NULL),
               (SELECT max(domain) FROM account WHERE api_key_digest IS NOT NULL)
        """)

    static let noteUsage = Query(
        "noteUsage",
        """
        WITH report AS (
            SELECT * FROM unnest($1::text[], $2::bigint[])
            WITH ORDINALITY AS r (address, used, place)
        ),
        latest AS (
            SELECT DISTINCT ON (address) address, used FROM report ORDER BY address, place DESC
        ),
        noted AS (
            UPDATE account SET used = latest.used FROM latest
            WHERE account.address = latest.address AND account.state <> 'deleted'
            RETURNING account.address
        )
        SELECT EXISTS (SELECT 1 FROM noted WHERE noted.address = report.address)
        FROM report ORDER BY place
        """)

    static let freeAddress = Query.recording(
        "freeAddress", 1,
        """
        changed AS (
            DELETE FROM account WHERE address = $1 AND state = 'deleted'
            RETURNING id, address, NULL::bigint AS quota
        )
        """, isFed: true)
}
