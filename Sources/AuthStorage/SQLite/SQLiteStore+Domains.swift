internal import AuthCore

extension SQLiteStore: DomainStore {
    func insert(
        _ domain: HostedDomain, limit: Int?, recording event: AuditEvent
    ) async throws -> DomainInsertion {
        try await write { database in
            if let owner = domain.owner, let limit {
                guard try database.hasRoom(SQL.ownedDomainAt, owner, limit) else {
                    return .limitReached
                }
            }
            let before = try database.domain(named: domain.name)
            if let before, before.givesWay(to: domain) {
                try database.run(SQL.removeDomain, .id(before.id), SQLValue(before.owner?.text))
            }
            guard try database.insert(domain) else { return .alreadyExists }
            try database.record(event)
            return .inserted
        }
    }

    func domain(named name: Domain) async throws -> HostedDomain? {
        try await read { try $0.domain(named: name) }
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
        try await write { database in
            let before = try database.first(SQL.verificationOfDomain, .id(id)) {
                try $0.parsed(0, HostedDomain.Verification.init)
            }
            guard let before else { return nil }
            let after = before == .verified ? before : verification
            try database.run(
                SQL.setVerification, .text(after.rawValue), .integer(hasMX ? 1 : 0), .instant(now),
                .id(id))
            if before != .verified, after == .verified { try database.record(event) }
            return after
        }
    }

    func removeDomain(
        _ id: DomainID, of owner: UserID?, recording event: AuditEvent
    ) async throws -> DomainRemoval {
        try await write { database in
            let owner = SQLValue(owner?.text)
            guard try database.run(SQL.removeDomain, .id(id), owner) == 1 else {
                return try database.exists(SQL.domainExists, .id(id), owner) ? .inUse : .absent
            }
            try database.record(event)
            return .removed
        }
    }
}

extension SQLiteConnection {
    fileprivate func domain(named name: Domain) throws -> HostedDomain? {
        try first(SQL.domainByName, .text(name.text), read: HostedDomain.init(row:))
    }

    /// - Returns: `false` when the id or the name is there already.
    fileprivate func insert(_ domain: HostedDomain) throws -> Bool {
        try namingTheOwner {
            try run(
                SQL.insertDomain, .id(domain.id), .text(domain.name.text),
                SQLValue(domain.owner?.text), .integer(domain.isProOnly ? 1 : 0),
                .text(domain.verification.rawValue), .text(domain.verifyToken),
                SQLValue(domain.verified), .integer(domain.hasMX ? 1 : 0),
                .instant(domain.created))
        } == 1
    }
}

extension HostedDomain {
    /// In the order in which ``init(row:)`` reads them.
    static let columns =
        "id, name, owner, pro_only, verification, verify_token, verified, has_mx, created"
    static let columnCount: Int32 = 9

    /// - Parameter row: begins with ``columns``.
    init(row: Row) throws {
        self.init(
            id: try row.parsed(0, DomainID.init), name: try row.parsed(1, Domain.init),
            owner: try row.optionallyParsed(2, UserID.init), isProOnly: try row.bool(3),
            verification: try row.parsed(4, Verification.init), verifyToken: try row.text(5),
            verified: try row.optionalInstant(6), hasMX: try row.bool(7),
            created: try row.instant(8))
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

    /// A domain that stays verified keeps the time at which it became so.
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
}
