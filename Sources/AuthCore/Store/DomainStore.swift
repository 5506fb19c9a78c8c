/// Stores the domains that are not in the configuration. Atomicity, events and errors as in
/// ``AccountStore``.
public protocol DomainStore: Sendable {
    /// Adds the domain, unless a domain of any owner has its name or its owner already has `limit`
    /// domains. A domain that the new one replaces (``HostedDomain/isReplaced(by:)``) is removed.
    func insert(_ domain: HostedDomain, limit: Int?, recording event: AuditEvent) async throws
        -> DomainInsertion

    func domain(named name: Domain) async throws -> HostedDomain?

    /// The owner's domain with this id.
    func domain(id: DomainID, of owner: UserID) async throws -> HostedDomain?

    /// The owner's domains in order of creation; those of the operator when `owner` is `nil`.
    func domains(of owner: UserID?) async throws -> [HostedDomain]

    /// Stores the result of a check of the DNS. A verified domain stays verified, because it may
    /// have accounts. `event` is written only when the domain becomes verified.
    /// - Returns: the verification as it is now; `nil` when the domain has been removed.
    func setVerification(
        of id: DomainID, to verification: HostedDomain.Verification, hasMX: Bool, at now: Instant,
        recording event: AuditEvent
    ) async throws -> HostedDomain.Verification?

    /// Removes a domain of the owner, or of the operator when `owner` is `nil`, unless it has an
    /// account.
    func removeDomain(_ id: DomainID, of owner: UserID?, recording event: AuditEvent) async throws
        -> DomainRemoval
}

/// The operator's access to domains. Errors as in ``AccountStore``.
public protocol DomainDirectory: Sendable {
    /// At most `limit` domains of all owners in name order, after `name` or from the first when it
    /// is `nil`.
    func domains(after name: Domain?, limit: Int) async throws -> [ListedDomain]
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
