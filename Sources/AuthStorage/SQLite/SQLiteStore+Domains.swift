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
            guard try HostedDomain.find(domain.name, in: connection) == nil,
                try domain.insert(into: connection)
            else { return .alreadyExists }
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
            let before = try connection.first(
                SQL.anyDomainByID, .id(id), read: HostedDomain.init(row:))
            guard let before else { return nil }
            if before.verification == .verified {
                try connection.run(
                    SQL.confirmDomain, .integer(hasMX ? 1 : 0),
                    .integer(verification == .verified ? 1 : 0), .id(id))
                return .verified
            }
            let isHeld = try HostedDomain.find(before.name, in: connection) != nil
            let after = verification == .verified && isHeld ? .failed : verification
            let isVerified = after == .verified
            try connection.run(
                SQL.setVerification, .text(after.rawValue), .integer(hasMX ? 1 : 0),
                SQLValue(isVerified ? now : nil),
                SQLValue(isVerified ? now.advanced(by: HostedDomain.checkInterval) : nil), .id(id))
            if isVerified { try connection.record(event) }
            return after
        }
    }

    func domainsToCheck(at now: Instant, limit: Int) async throws -> [HostedDomain] {
        try await read {
            try $0.all(SQL.dueDomains, .instant(now), .limit(limit), read: HostedDomain.init(row:))
        }
    }

    func noteCheck(
        of id: DomainID, _ result: DomainCheck, at now: Instant, recording event: AuditEvent
    ) async throws {
        let next = SQLValue.instant(now.advanced(by: HostedDomain.checkInterval))
        _ = try await write { connection in
            switch result {
            case .found(let hasMX):
                try connection.run(SQL.noteFound, .integer(hasMX ? 1 : 0), next, .id(id))
            case .missing:
                let graceEnd = now.advanced(by: .zero - HostedDomain.gracePeriod)
                if try connection.run(SQL.lapse, .instant(graceEnd), .id(id)) == 1 {
                    try connection.record(event)
                } else {
                    try connection.run(SQL.noteMissing, .instant(now), next, .id(id))
                }
            case .unknown:
                try connection.run(
                    SQL.postponeCheck, .instant(now.advanced(by: .seconds(3600))), .id(id))
            }
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
    func domains(after domain: HostedDomain?, limit: Int) async throws -> [ListedDomain] {
        // Every name and every id sorts after the empty text.
        let name = domain?.name.text ?? ""
        let id = domain?.id.text ?? ""
        return try await read { connection in
            try connection.all(
                SQL.domainPage, .text(name), .text(id), .limit(limit),
                read: ListedDomain.init(row:))
        }
    }

    func domains(named name: Domain) async throws -> [HostedDomain] {
        try await read {
            try $0.all(SQL.domainsByName, .text(name.text), read: HostedDomain.init(row:))
        }
    }
}

extension HostedDomain {
    /// The verified domain of this name.
    fileprivate static func find(
        _ name: Domain, in connection: SQLiteConnection
    ) throws -> HostedDomain? {
        try connection.first(SQL.domainByName, .text(name.text), read: HostedDomain.init(row:))
    }

    /// - Returns: `false` when the id is there already, or the owner has the name.
    fileprivate func insert(into connection: SQLiteConnection) throws -> Bool {
        try connection.run(
            SQL.insertDomain, .id(id), .text(name.text), SQLValue(owner?.text),
            .integer(isProOnly ? 1 : 0), .text(verification.rawValue), .text(verifyToken),
            SQLValue(verified), .integer(hasMX ? 1 : 0), .instant(created)) == 1
    }
}

private enum SQL {
    /// Does nothing when the id is there already, or the owner has the name.
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
        "domainByName",
        """
        SELECT \(HostedDomain.columns) FROM domain WHERE name = ?1 AND verification = 'verified'
        """)

    static let domainsByName = Query(
        "domainsByName",
        """
        SELECT \(HostedDomain.columns) FROM domain
        WHERE name = ?1 ORDER BY verification <> 'verified', created, id
        """)

    static let domainByID = Query(
        "domainByID", "SELECT \(HostedDomain.columns) FROM domain WHERE id = ?1 AND owner = ?2")

    /// `IS`, because the operator's domains have no owner.
    static let domainsOfOwner = Query(
        "domainsOfOwner",
        "SELECT \(HostedDomain.columns) FROM domain WHERE owner IS ?1 ORDER BY created, id")

    static let anyDomainByID = Query(
        "anyDomainByID", "SELECT \(HostedDomain.columns) FROM domain WHERE id = ?1")

    static let setVerification = Query(
        "setVerification",
        """
        UPDATE domain
        SET verification = ?1, has_mx = ?2, verified = ?3, next_check = ?4, missing_since = NULL
        WHERE id = ?5
        """)

    /// For a domain that is verified already. The record may be found again before the next check.
    static let confirmDomain = Query(
        "confirmDomain",
        """
        UPDATE domain SET has_mx = ?1, missing_since = CASE WHEN ?2 THEN NULL ELSE missing_since END
        WHERE id = ?3
        """)

    static let dueDomains = Query(
        "dueDomains",
        """
        SELECT \(HostedDomain.columns) FROM domain WHERE next_check <= ?1
        ORDER BY next_check LIMIT ?2
        """)

    static let noteFound = Query(
        "noteFound",
        """
        UPDATE domain SET has_mx = ?1, next_check = ?2, missing_since = NULL
        WHERE id = ?3 AND next_check IS NOT NULL
        """)

    static let noteMissing = Query(
        "noteMissing",
        """
        UPDATE domain SET missing_since = coalesce(missing_since, ?1), next_check = ?2
        WHERE id = ?3 AND next_check IS NOT NULL
        """)

    static let postponeCheck = Query(
        "postponeCheck",
        "UPDATE domain SET next_check = ?1 WHERE id = ?2 AND next_check IS NOT NULL")

    static let lapse = Query(
        "lapse",
        """
        UPDATE domain
        SET verification = 'pending', verified = NULL, next_check = NULL, missing_since = NULL
        WHERE id = ?2 AND verification = 'verified' AND missing_since <= ?1
        """)

    /// The accounts on the name of an unverified domain may be those of another owner.
    static let removeDomain = Query(
        "removeDomain",
        """
        DELETE FROM domain WHERE id = ?1 AND owner IS ?2
        AND NOT EXISTS (
            SELECT 1 FROM account WHERE account.domain = domain.name
            AND (domain.verification = 'verified' OR account.owner = domain.owner)
        )
        """)

    static let domainExists = Query(
        "domainExists", "SELECT 1 FROM domain WHERE id = ?1 AND owner IS ?2")

    static let domainPage = Query(
        "domainPage",
        """
        SELECT \(HostedDomain.columns), (SELECT email FROM user WHERE user.id = domain.owner)
        FROM domain WHERE (name, id) > (?1, ?2) ORDER BY name, id LIMIT ?3
        """)
}
