internal import Cryptography

/// A domain on which anybody, or any Pro user, may make mailboxes.
public struct SystemDomain: Equatable, Sendable {
    public let id: DomainID
    public let name: Domain
    public let isProOnly: Bool
}

/// What a look at the DNS found.
public struct DomainInspection: Equatable, Sendable {
    public let verification: HostedDomain.Verification
    public let hasText: Bool
    public let hasMX: Bool
}

extension AccountsAuth {
    /// The domains that accounts can be made on, the default one first.
    public func systemDomains() async throws -> [SystemDomain] {
        let configured = policy.domains.map { name in
            SystemDomain(id: stableID(of: name), name: name, isProOnly: false)
        }
        let added = try await stores.domains.domains(of: nil).filter { domain in
            !policy.domains.contains(domain.name)
        }
        return configured
            + added.map { SystemDomain(id: $0.id, name: $0.name, isProOnly: $0.isProOnly) }
    }

    public func domains(of user: User) async throws -> [HostedDomain] {
        try await stores.domains.domains(of: user.id)
    }

    /// Adds a domain of the user's own. Nothing can be made on it until it is verified.
    public func addDomain(_ text: String, for user: User, by caller: Caller) async throws
        -> HostedDomain
    {
        guard let name = Domain(parsing: text),
            let domain = HostedDomain(name, of: user.id, at: caller.now, random: random)
        else { throw Refusal.invalidDomain }
        guard !policy.domains.contains(name) else { throw Refusal.domainAlreadyExists }
        let event = AuditEvent(
            .domainAdded, by: caller, actor: "user:\(user.id)", subject: name.text)
        switch try await stores.domains.insert(
            domain, limit: settings.maximumDomains, recording: event)
        {
        case .inserted: return domain
        case .alreadyExists: throw Refusal.domainAlreadyExists
        case .limitReached: throw Refusal.domainLimitReached
        }
    }

    /// What the owner of `domain` has to publish: a TXT record that proves control, and an MX
    /// record that brings the mail here.
    public func records(for domain: HostedDomain) -> [DNSRecord] {
        domain.records(exchanger: settings.mailExchanger)
    }

    /// Looks at the DNS and notes what is there. A domain that is verified stays so when its
    /// record goes: accounts are on it.
    public func verifyDomain(
        _ id: DomainID, of user: User, by caller: Caller
    ) async throws -> (domain: HostedDomain, inspection: DomainInspection) {
        guard let domain = try await stores.domains.domain(id: id, of: user.id),
            let host = Domain(parsing: domain.textHost)
        else { throw Refusal.notFound }
        let hasText: Bool
        let hasMX: Bool
        do {
            hasText = try await resolver.texts(at: host).contains(domain.textValue)
            hasMX = try await resolver.mailExchangers(of: domain.name)
                .contains(settings.mailExchanger.text)
        } catch is DomainResolverTimeout {
            throw Refusal.busy(retryAfter: .seconds(5))
        }
        let event = AuditEvent(
            .domainVerified, by: caller, actor: "user:\(user.id)", subject: domain.name.text)
        let verification = try await stores.domains.setVerification(
            of: id, to: hasText ? .verified : .failed, hasMX: hasMX, at: caller.now,
            recording: event)
        guard let verification else { throw Refusal.notFound }
        return (
            domain,
            DomainInspection(verification: verification, hasText: hasText, hasMX: hasMX)
        )
    }

    public func removeDomain(_ id: DomainID, of user: User, by caller: Caller) async throws {
        guard let domain = try await stores.domains.domain(id: id, of: user.id) else {
            throw Refusal.notFound
        }
        // By name, for the record outlives the id's row.
        let event = AuditEvent(
            .domainRemoved, by: caller, actor: "user:\(user.id)", subject: domain.name.text)
        switch try await stores.domains.removeDomain(id, of: user.id, recording: event) {
        case .removed: return
        case .inUse: throw Refusal.domainInUse
        case .absent: throw Refusal.notFound
        }
    }

    /// A configured domain has no row of its own, so its id follows from its name.
    private func stableID(of name: Domain) -> DomainID {
        DomainID(random: Array(SHA256.digest(Array("system-domain/\(name)".utf8)).prefix(16)))
    }
}
