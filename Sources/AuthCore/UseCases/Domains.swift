internal import Cryptography
internal import Networking

/// The domains that mailboxes can be created on: the operator's, and those that users add and prove
/// to control.
public struct Domains: UseCases {
    public typealias Failure = AccountsError

    private let settings: AccountsSettings
    private let policy: AddressPolicy
    private let domains: any DomainStore
    private let resolver: any DomainResolver
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: returns that many random bytes, fit for keys.
    public init(
        settings: AccountsSettings, policy: AddressPolicy, domains: any DomainStore,
        resolver: any DomainResolver, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.settings = settings
        self.policy = policy
        self.domains = domains
        self.resolver = resolver
        self.random = random
    }

    /// A domain on which everybody, or every Pro user, may create mailboxes.
    public struct System: Equatable, Sendable {
        public let id: DomainID
        public let name: Domain
        public let isProOnly: Bool
    }

    /// The operator's domains, the default one first.
    public func system() async throws(AccountsError) -> [System] {
        let configured = policy.domains.map { name in
            System(id: Self.stableID(of: name), name: name, isProOnly: false)
        }
        let added = try await attempt(await domains.domains(of: nil))
            .filter { !policy.domains.contains($0.name) }
            .map { System(id: $0.id, name: $0.name, isProOnly: $0.isProOnly) }
        return configured + added
    }

    public func list(of user: User) async throws(AccountsError) -> [HostedDomain] {
        try await attempt(await domains.domains(of: user.id))
    }

    /// Adds a domain of the user's own. No mailbox can be created on it until it is verified.
    public func add(
        _ text: String, for user: User, by caller: Caller
    ) async throws(AccountsError) -> (domain: HostedDomain, records: [DNSRecord]) {
        guard let name = Domain(parsing: text),
            let domain = HostedDomain(name, of: user.id, at: caller.now, random: random)
        else { throw .invalidDomain }
        guard !policy.domains.contains(name) else { throw .domainAlreadyExists }
        let event = AuditEvent(
            .domainAdded, by: caller, actor: .user(user.id), subject: name.text)
        switch try await attempt(
            await domains.insert(domain, limit: settings.maximumDomains, recording: event))
        {
        case .inserted: return (domain, domain.records(exchanger: settings.mailExchanger))
        case .alreadyExists: throw .domainAlreadyExists
        case .limitReached: throw .domainLimitReached
        }
    }

    /// The result of a check of the DNS.
    public struct Inspection: Equatable, Sendable {
        public let verification: HostedDomain.Verification
        public let hasText: Bool
        public let hasMX: Bool
        /// The records that the owner has to publish.
        public let records: [DNSRecord]
    }

    /// Checks the DNS and stores the result. A verified domain stays verified when its record
    /// disappears, because it may have accounts; ``recheck(at:)`` decides about it.
    /// - Parameter id: `nil` for a text that cannot be an id.
    public func verify(
        _ id: DomainID?, of user: User, by caller: Caller
    ) async throws(AccountsError) -> Inspection {
        guard let id, let domain = try await attempt(await domains.domain(id: id, of: user.id)),
            let host = Domain(parsing: domain.textHost)
        else { throw .notFound }
        let hasText = try await attempt(await resolver.texts(at: host, for: caller.address))
            .contains(where: domain.isProved)
        let hasMX = try await attempt(await hasMX(domain, for: caller.address))
        let event = AuditEvent(
            .domainVerified, by: caller, actor: .user(user.id), subject: domain.name.text)
        let verification = try await attempt(
            await domains.setVerification(
                of: id, to: hasText ? .verified : .failed, hasMX: hasMX, at: caller.now,
                recording: event))
        guard let verification else { throw .notFound }
        return Inspection(
            verification: verification, hasText: hasText, hasMX: hasMX,
            records: domain.records(exchanger: settings.mailExchanger))
    }

    /// Looks up the verified domains that are due. A domain whose TXT record has been missing for
    /// a week becomes pending: its accounts stay, no new ones can be created, and another user may
    /// prove the domain.
    ///
    /// Domains that could not be looked up are due again after an hour.
    public func recheck(at now: Instant) async throws {
        let pageSize = 100
        while true {
            let due = try await domains.domainsToCheck(at: now, limit: pageSize)
            for domain in due {
                let event = AuditEvent(
                    .domainLapsed, time: now, actor: .server, subject: domain.name.text)
                try await domains.noteCheck(
                    of: domain.id, await check(domain), at: now, recording: event)
            }
            if due.count < pageSize { return }
            try Task.checkCancellation()
        }
    }

    private func check(_ domain: HostedDomain) async -> DomainCheck {
        do {
            guard let host = Domain(parsing: domain.textHost),
                try await resolver.texts(at: host, for: nil).contains(where: domain.isProved)
            else { return .missing }
            return .found(hasMX: try await hasMX(domain, for: nil))
        } catch {
            return .unknown
        }
    }

    /// - Parameter client: who asked for the look-up; `nil` for the server itself.
    private func hasMX(_ domain: HostedDomain, for client: IPAddress?) async throws -> Bool {
        try await resolver.mailExchangers(of: domain.name, for: client)
            .contains(settings.mailExchanger.text)
    }

    /// - Parameter id: `nil` for a text that cannot be an id.
    public func remove(
        _ id: DomainID?, of user: User, by caller: Caller
    ) async throws(AccountsError) {
        guard let id, let domain = try await attempt(await domains.domain(id: id, of: user.id))
        else { throw .notFound }
        // Recorded by name, because the event outlives the row of the id.
        let event = AuditEvent(
            .domainRemoved, by: caller, actor: .user(user.id), subject: domain.name.text)
        switch try await attempt(
            await domains.removeDomain(id, of: user.id, recording: event))
        {
        case .removed: return
        case .inUse: throw .domainInUse
        case .absent: throw .notFound
        }
    }

    /// A configured domain has no row, so its id is computed from its name.
    private static func stableID(of name: Domain) -> DomainID {
        DomainID(random: Array(SHA256.digest(Array("system-domain/\(name)".utf8)).prefix(16)))
    }
}
