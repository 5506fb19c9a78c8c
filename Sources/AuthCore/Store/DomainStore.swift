/// Stores the domains that are not in the configuration. Atomicity, events and errors as in
/// ``AccountStore``.
public protocol DomainStore: Sendable {
    /// Adds the domain, unless its owner already has `limit` domains or one of this name, or the
    /// name is verified for somebody.
    func insert(_ domain: HostedDomain, limit: Int?, recording event: AuditEvent) async throws
        -> DomainInsertion

    /// The domain of this name that is verified; the operator's domains always are.
    func domain(named name: Domain) async throws -> HostedDomain?

    /// The owner's domain with this id.
    func domain(id: DomainID, of owner: UserID) async throws -> HostedDomain?

    /// The owner's domains in order of creation; those of the operator when `owner` is `nil`.
    func domains(of owner: UserID?) async throws -> [HostedDomain]

    /// Stores the result of a check of the DNS that the owner asked for. A verified domain stays
    /// verified, because it may have accounts. While the name is verified for another owner, the
    /// result is `.failed`. `event` is written only when the domain becomes verified; it is looked
    /// up again after ``HostedDomain/checkInterval``.
    /// - Returns: the verification as it is now; `nil` when the domain has been removed.
    func setVerification(
        of id: DomainID, to verification: HostedDomain.Verification, hasMX: Bool, at now: Instant,
        recording event: AuditEvent
    ) async throws -> HostedDomain.Verification?

    /// At most `limit` verified domains that have to be looked up again at `now`, the longest due
    /// first. Domains that the operator vouches for are never due.
    func domainsToCheck(at now: Instant, limit: Int) async throws -> [HostedDomain]

    /// Stores the result of looking a verified domain up again. A domain whose record has been
    /// missing for ``HostedDomain/gracePeriod`` becomes pending, and `event` is written.
    func noteCheck(
        of id: DomainID, _ result: DomainCheck, at now: Instant, recording event: AuditEvent
    ) async throws

    /// Removes a domain of the owner, or of the operator when `owner` is `nil`, unless it has an
    /// account: for an unverified domain, one of its owner.
    func removeDomain(_ id: DomainID, of owner: UserID?, recording event: AuditEvent) async throws
        -> DomainRemoval
}

/// The operator's access to domains. Errors as in ``AccountStore``.
public protocol DomainDirectory: Sendable {
    /// At most `limit` domains of all owners, ordered by name and then by id, after `domain` or
    /// from the first when it is `nil`.
    func domains(after domain: HostedDomain?, limit: Int) async throws -> [ListedDomain]

    /// The verified domain of this name, and then the claims to it in order of creation.
    func domains(named name: Domain) async throws -> [HostedDomain]
}

/// The result of looking up the TXT record of a verified domain.
public enum DomainCheck: Equatable, Sendable {
    case found(hasMX: Bool)
    case missing
    /// No name server gave a usable answer.
    case unknown
}

/// A domain and the email of its owner; `nil` for a domain of the operator.
public struct ListedDomain: Equatable, Sendable {
    public let domain: HostedDomain
    public let owner: Email?

    public init(domain: HostedDomain, owner: Email?) {
        self.domain = domain
        self.owner = owner
    }
}

/// The result of adding a domain.
public enum DomainInsertion: Equatable, Sendable {
    case inserted
    case alreadyExists
    case limitReached
}

/// The result of removing a domain.
public enum DomainRemoval: Equatable, Sendable {
    case removed
    case inUse
    case absent
}
