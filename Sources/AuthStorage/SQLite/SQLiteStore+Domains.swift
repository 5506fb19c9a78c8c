internal import AuthCore

extension SQLiteStore: DomainStore {
    func insert(
        _ domain: HostedDomain, limit: Int?, recording event: AuditEvent
    ) async throws -> DomainInsertion {
        try await write { connection in
            if let owner = domain.owner, let limit {
                guard limit > 0,
                    try !connection.exists(SQL.ownedDomainAt, .id(owner), .limit(limit - 1))
                else { return .limitReached }
            }
            let before = try HostedDomain.find(domain.name, in: connection)
            if let before, before.isReplaced(by: domain) {
                try connection.run(SQL.removeDomain, .id(before.id), SQLValue(before.owner?.text))
            }
            guard try domain.insert(into: connection) else { return .alreadyExists }
            try connection.record(event)
            return .inserted
        }
    }

    func domain(named name: Domain) async throws -> HostedDomain? {
        try await read { try HostedDomain.find(name, in: $0) }
    }

    func domain(id: DomainID, of owner: UserID) async throws -> HostedDomain? {
        try await read {
            try $0.first(SQL.domainByID, .id(id), .id(owner), read: HostedDomain.init(row:))
        }
    }

    func domains(of owner: UserID?) async throws -> [HostedDomain] {
        try await read {
            try $0.all(SQL.domainsOfOwner, SQLValue(owner?.text), read: HostedDomain.init(row:))
        }
    }

    func setVerification(
        of id: DomainID, to verification: HostedDomain.Verification, hasMX: Bool, at now: Instant,
        recording event: AuditEvent
    ) async throws -> HostedDomain.Verification? {
        try await write { connection in
            let before = try connection.first(SQL.verificationOfDomain, .id(id)) {
                try $0.parsed(0, HostedDomain.Verification.init)
            }
            guard let before else { return nil }
            let after = before == .verified ? before : verification
            try connection.run(
                SQL.setVerification, .text(after.rawValue), .integer(hasMX ? 1 : 0), .instant(now),
                .id(id))
            if before != .verified, after == .verified { try connection.record(event) }
            return after
        }
    }

    func removeDomain(
        _ id: DomainID, of owner: UserID?, recording event: AuditEvent
    ) async throws -> DomainRemoval {
        try await write { connection in
            let owner = SQLValue(owner?.text)
            guard try connection.run(SQL.removeDomain, .id(id), owner) == 1 else {
                return try connection.exists(SQL.domainExists, .id(id), owner) ? .inUse : .absent
            }
            try connection.record(event)
            return .removed
        }
    }
}

extension SQLiteStore: DomainDirectory {
    func domains(after name: Domain?, limit: Int) async throws -> [ListedDomain] {
        // Every name sorts after the empty text.
        let start = name?.text ?? ""
        return try await read { connection in
            try connection.all(SQL.domainPage, .text(start), .limit(limit)) { row in
                ListedDomain(
                    domain: try HostedDomain(row: row),
                    owner: try row.optionallyParsed(HostedDomain.columnCount, Email.init))
            }
        }
    }
}

extension HostedDomain {
    /// In the order in which ``init(row:)`` reads them.
    fileprivate static let columns =
        "id, name, owner, pro_only, verification, verify_token, verified, has_mx, created"
    fileprivate static let columnCount: Int32 = 9

    /// - Parameter row: begins with ``columns``.
    fileprivate init(row: Row) throws {
        self.init(
            id: try row.parsed(0, DomainID.init), name: try row.parsed(1, Domain.init),
            owner: try row.optionallyParsed(2, UserID.init), isProOnly: try row.bool(3),
            verification: try row.parsed(4, Verification.init), verifyToken: try row.text(5),
            verified: try row.optionalInstant(6), hasMX: try row.bool(7),
            created: try row.instant(8))
    }

    fileprivate static func find(
        _ name: Domain, in connection: SQLiteConnection
    ) throws -> HostedDomain? {
        try connection.first(SQL.domainByName, .text(name.text), read: HostedDomain.init(row:))
    }

    /// - Returns: `false` when the id or the name is there already.
    fileprivate func insert(into connection: SQLiteConnection) throws -> Bool {
        try connection.run(
            SQL.insertDomain, .id(id), .text(name.text), SQLValue(owner?.text),
            .integer(isProOnly ? 1 : 0), .text(verification.rawValue), .text(verifyToken),
            SQLValue(verified), .integer(hasMX ? 1 : 0), .instant(created)) == 1
    }
}

private enum SQL {
    /// Does nothing when the id or the name is there already.
    static let insertDomain = Query(
        "insertDomain",
        """
        INSERT INTO domain (\(HostedDomain.columns))
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT DO NOTHING
        """)

    static let ownedDomainAt = Query(
        "ownedDomainAt", "SELECT 1 FROM domain WHERE owner = ?1 LIMIT 1 OFFSET ?2")

    static let domainByName = Query(
        "domainByName", "SELECT \(HostedDomain.columns) FROM domain WHERE name = ?1")

    static let domainByID = Query(
        "domainByID", "SELECT \(HostedDomain.columns) FROM domain WHERE id = ?1 AND owner = ?2")

    /// `IS`, because the operator's domains have no owner.
    static let domainsOfOwner = Query(
        "domainsOfOwner",
        "SELECT \(HostedDomain.columns) FROM domain WHERE owner IS ?1 ORDER BY created, id")

    static let verificationOfDomain = Query(
        "verificationOfDomain", "SELECT verification FROM domain WHERE id = ?1")

    /// A domain that stays verified keeps the time of its first verification.
    static let setVerification = Query(
        "setVerification",
        """
        UPDATE domain
        SET verified = CASE
                WHEN ?1 <> 'verified' THEN NULL
                WHEN verification = 'verified' THEN verified
                ELSE ?3
            END,
            verification = ?1, has_mx = ?2
        WHERE id = ?4
        """)

    static let removeDomain = Query(
        "removeDomain",
        """
        DELETE FROM domain WHERE id = ?1 AND owner IS ?2
        AND NOT EXISTS (SELECT 1 FROM account WHERE account.domain = domain.name)
        """)

    static let domainExists = Query(
        "domainExists", "SELECT 1 FROM domain WHERE id = ?1 AND owner IS ?2")

    static let domainPage = Query(
        "domainPage",
        """
        SELECT \(HostedDomain.columns), (SELECT email FROM user WHERE user.id = domain.owner)
        FROM domain WHERE name > ?1 ORDER BY name LIMIT ?2
        """)
}
