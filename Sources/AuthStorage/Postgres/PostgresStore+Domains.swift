internal import AuthCore

extension PostgresStore: DomainStore {
    func insert(
        _ domain: HostedDomain, limit: Int?, recording event: AuditEvent
    ) async throws -> DomainInsertion {
        let bound = domain.owner == nil ? nil : limit
        return try await record(
            event, SQL.insertDomain,
            [
                .id(domain.id), .text(domain.name.text), .id(domain.owner),
                .bool(domain.isProOnly), .text(domain.verification.rawValue),
                .text(domain.verifyToken), PostgresValue(domain.verified), .bool(domain.hasMX),
                .instant(domain.created), bound.map { .limit($0) } ?? .null,
            ],
            after: domain.owner.map { [.lockingOwner($0)] } ?? [], ifMade: .inserted,
            read: { row in
                guard try row.bool(1) else { return .limitReached }
                return try row.integer(0) > 0 ? .inserted : .alreadyExists
            }, isMade: { $0 == .inserted })
    }

    func domain(named name: Domain) async throws -> HostedDomain? {
        try await lookUp(SQL.domainByName, .text(name.text)) { try HostedDomain(row: $0) }
    }

    func domain(id: DomainID, of owner: UserID) async throws -> HostedDomain? {
        try await first(SQL.domainByID, .id(id), .id(owner)) { try HostedDomain(row: $0) }
    }

    func domains(of owner: UserID?) async throws -> [HostedDomain] {
        guard let owner else {
            return try await all(SQL.operatorsDomains) { try HostedDomain(row: $0) }
        }
        return try await all(SQL.domainsOfOwner, .id(owner)) { try HostedDomain(row: $0) }
    }

    func setVerification(
        of id: DomainID, to verification: HostedDomain.Verification, hasMX: Bool, at now: Instant,
        recording event: AuditEvent
    ) async throws -> HostedDomain.Verification? {
        let writeID = WriteID.make(at: event.time)
        let next = now.advanced(by: HostedDomain.checkInterval)
        let result = try await perform(
            PostgresWrite(
                [
                    PostgresStatement(SQL.lockDomain, .id(id)),
                    PostgresStatement(
                        SQL.setVerification,
                        [
                            .id(id), .text(verification.rawValue), .bool(hasMX), .instant(now),
                            .instant(next),
                        ] + event.values(writeID)),
                ],
                repetition: .provable(
                    PostgresWrite<Verified?>.proof(writeID),
                    done: Verified(verification: .verified, isNew: true)),
                read: { results in try results[1].first(Verified.init(row:)) }))
        if result?.isNew == true { report(event) }
        return result?.verification
    }

    func domainsToCheck(at now: Instant, limit: Int) async throws -> [HostedDomain] {
        try await all(SQL.dueDomains, .instant(now), .limit(limit)) { try HostedDomain(row: $0) }
    }

    func noteCheck(
        of id: DomainID, _ result: DomainCheck, at now: Instant, recording event: AuditEvent
    ) async throws {
        let next = PostgresValue.instant(now.advanced(by: HostedDomain.checkInterval))
        switch result {
        case .found(let hasMX):
            try await repeatable(
                PostgresStatement(SQL.noteFound, .id(id), .bool(hasMX), next))
        case .missing:
            let graceEnd = now.advanced(by: .zero - HostedDomain.gracePeriod)
            _ = try await change(
                SQL.lapse, .id(id), .instant(graceEnd), recording: event,
                before: [PostgresStatement(SQL.noteMissing, .id(id), .instant(now), next)])
        case .unknown:
            try await repeatable(
                PostgresStatement(
                    SQL.postponeCheck, .id(id), .instant(now.advanced(by: .seconds(3600)))))
        }
    }

    private func repeatable(_ statement: PostgresStatement) async throws {
        try await perform(
            PostgresWrite([statement], repetition: .harmless, read: { _ in }))
    }

    func removeDomain(
        _ id: DomainID, of owner: UserID?, recording event: AuditEvent
    ) async throws -> DomainRemoval {
        try await record(
            event, SQL.removeDomain, [.id(id), .id(owner)],
            after: [PostgresStatement(SQL.lockDomain, .id(id))], ifMade: .removed,
            read: { row in
                if try row.integer(0) > 0 { return .removed }
                return try row.bool(1) ? .inUse : .absent
            }, isMade: { $0 == .removed })
    }
}

extension PostgresStore: DomainDirectory {
    func domains(after domain: HostedDomain?, limit: Int) async throws -> [ListedDomain] {
        guard let domain else {
            return try await all(SQL.firstDomains, .limit(limit), read: ListedDomain.init(row:))
        }
        return try await all(
            SQL.domainPage, .text(domain.name.text), .id(domain.id), .limit(limit),
            read: ListedDomain.init(row:))
    }

    func domains(named name: Domain) async throws -> [HostedDomain] {
        try await all(SQL.domainsByName, .text(name.text)) { try HostedDomain(row: $0) }
    }
}

/// The result of a check by the owner.
private struct Verified: Sendable {
    let verification: HostedDomain.Verification
    /// Whether the domain was not verified before.
    let isNew: Bool

    init(verification: HostedDomain.Verification, isNew: Bool) {
        self.verification = verification
        self.isNew = isNew
    }

    init(row: PostgresRow) throws {
        verification = try row.parsed(0, HostedDomain.Verification.init)
        isNew = try row.integer(1) > 0
    }
}

private enum SQL {
    /// Does nothing when the id is there already, the owner has the name, or the name is verified.
    static let insertDomain = Query.recording(
        "insertDomain", 10,
        """
        checked AS (
            SELECT $10::bigint IS NULL OR (
                SELECT count(*) FROM (
                    SELECT 1 FROM domain WHERE owner = $3::uuid LIMIT $10
                ) AS owned
            ) < $10 AS is_within_limit
        ),
        changed AS (
            INSERT INTO domain (\(HostedDomain.columns))
            SELECT $1::uuid, $2::text, $3::uuid, $4::boolean, $5::text, $6::text, $7::timestamptz,
                   $8::boolean, $9::timestamptz
            FROM checked WHERE is_within_limit AND NOT EXISTS (
                SELECT 1 FROM domain WHERE name = $2 AND verification = 'verified'
            )
            ON CONFLICT DO NOTHING RETURNING 1
        )
        """,
        result: "SELECT (SELECT count(*) FROM changed), is_within_limit FROM checked")

    static let domainByName = Query(
        "domainByName",
        "SELECT \(HostedDomain.columns) FROM domain WHERE name = $1 AND verification = 'verified'")

    static let domainsByName = Query(
        "domainsByName",
        """
        SELECT \(HostedDomain.columns) FROM domain
        WHERE name = $1 ORDER BY verification <> 'verified', created, id
        """)

    static let domainByID = Query(
        "domainByID", "SELECT \(HostedDomain.columns) FROM domain WHERE id = $1 AND owner = $2")

    static let domainsOfOwner = Query(
        "domainsOfOwner",
        "SELECT \(HostedDomain.columns) FROM domain WHERE owner = $1 ORDER BY created, id")

    static let operatorsDomains = Query(
        "operatorsDomains",
        "SELECT \(HostedDomain.columns) FROM domain WHERE owner IS NULL ORDER BY created, id")

    static let lockDomain = Query("lockDomain", "SELECT 1 FROM domain WHERE id = $1 FOR UPDATE")

    /// A verified domain stays verified; its record may be found again before the next check.
    static let setVerification = Query.recording(
        "setVerification", 5,
        """
        before AS (
            SELECT id AS domain_id, name AS domain_name, verification = 'verified' AS was_verified
            FROM domain WHERE id = $1
        ),
        after AS (
            SELECT domain_id, was_verified, CASE
                WHEN was_verified THEN 'verified'
                WHEN $2::text = 'verified' AND EXISTS (
                    SELECT 1 FROM domain WHERE name = domain_name AND verification = 'verified'
                ) THEN 'failed'
                ELSE $2::text
            END AS outcome
            FROM before
        ),
        updated AS (
            UPDATE domain SET has_mx = $3, verification = outcome,
                verified = CASE
                    WHEN was_verified THEN verified WHEN outcome = 'verified' THEN $4::timestamptz
                END,
                next_check = CASE
                    WHEN was_verified THEN next_check
                    WHEN outcome = 'verified' THEN $5::timestamptz
                END,
                missing_since = CASE
                    WHEN was_verified AND $2::text <> 'verified' THEN missing_since
                END
            FROM after WHERE id = domain_id
            RETURNING outcome, was_verified
        ),
        changed AS (SELECT 1 FROM updated WHERE outcome = 'verified' AND NOT was_verified)
        """, result: "SELECT outcome, (SELECT count(*) FROM changed) FROM updated")

    static let dueDomains = Query(
        "dueDomains",
        """
        SELECT \(HostedDomain.columns) FROM domain WHERE next_check <= $1
        ORDER BY next_check LIMIT $2
        """)

    static let noteFound = Query(
        "noteFound",
        """
        UPDATE domain SET has_mx = $2, next_check = $3, missing_since = NULL
        WHERE id = $1 AND next_check IS NOT NULL
        """)

    /// Does nothing to a domain that has just lapsed.
    static let noteMissing = Query(
        "noteMissing",
        """
        UPDATE domain SET missing_since = coalesce(missing_since, $2), next_check = $3
        WHERE id = $1 AND next_check IS NOT NULL
        """)

    static let postponeCheck = Query(
        "postponeCheck",
        "UPDATE domain SET next_check = $2 WHERE id = $1 AND next_check IS NOT NULL")

    static let lapse = Query.recording(
        "lapse", 2,
        """
        changed AS (
            UPDATE domain
            SET verification = 'pending', verified = NULL, next_check = NULL, missing_since = NULL
            WHERE id = $1 AND verification = 'verified' AND missing_since <= $2
            RETURNING 1
        )
        """)

    /// The accounts on the name of an unverified domain may be those of another owner.
    static let removeDomain = Query.recording(
        "removeDomain", 2,
        """
        changed AS (
            DELETE FROM domain WHERE id = $1 AND owner IS NOT DISTINCT FROM $2
            AND NOT EXISTS (
                SELECT 1 FROM account
                WHERE account.domain = domain.name AND account.state <> 'deleted'
                    AND (domain.verification = 'verified' OR account.owner = domain.owner)
            )
            RETURNING 1
        )
        """,
        result: """
            SELECT (SELECT count(*) FROM changed), EXISTS (
                SELECT 1 FROM domain WHERE id = $1 AND owner IS NOT DISTINCT FROM $2
            )
            """)

    static let firstDomains = Query("firstDomains", "\(listed) ORDER BY name, id LIMIT $1")

    static let domainPage = Query(
        "domainPage", "\(listed) WHERE (name, id) > ($1, $2) ORDER BY name, id LIMIT $3")

    private static let listed = """
        SELECT \(HostedDomain.columns),
               (SELECT email FROM pro_user WHERE pro_user.id = domain.owner)
        FROM domain
        """
}
