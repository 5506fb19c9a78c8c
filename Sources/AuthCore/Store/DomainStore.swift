/// Where domains live that are not in the configuration. Atomicity, events and errors as in
/// ``AccountStore``.
public protocol DomainStore: Sendable {
    /// Adds the domain, unless its name is there already, whoever's it is, or its owner has
    /// `limit` domains. One that ``HostedDomain/isReplaced(by:)`` the new one is removed for it.
    func insert(_ domain: HostedDomain, limit: Int?, recording event: AuditEvent) async throws
        -> DomainInsertion

    func domain(named name: Domain) async throws -> HostedDomain?

    /// The owner's domain with this id.
    func domain(id: DomainID, of owner: UserID) async throws -> HostedDomain?

    /// The owner's domains in order of creation; the operator's when `owner` is `nil`.
    func domains(of owner: UserID?) async throws -> [HostedDomain]

    /// Writes what a look at the DNS found; a domain that is verified stays so, for accounts may be
    /// on it. `event` is written when the domain becomes verified.
    /// - Returns: how the domain stands now; `nil` when it is gone.
    func setVerification(
        of id: DomainID, to verification: HostedDomain.Verification, hasMX: Bool, at now: Instant,
        recording event: AuditEvent
    ) async throws -> HostedDomain.Verification?

    /// Removes the owner's domain, or the operator's when `owner` is `nil`, unless an account is on
    /// it.
    func removeDomain(_ id: DomainID, of owner: UserID?, recording event: AuditEvent) async throws
        -> DomainRemoval
}

/// The operator's view of domains. Errors as in ``AccountStore``.
public protocol DomainDirectory: Sendable {
    /// Domains in name order, whoever's they are, after `name` (from the first when `nil`), at most
    /// `limit`.
    func domains(after name: Domain?, limit: Int) async throws -> [ListedDomain]
}

/// A domain and the email of the user whose it is; `nil` for the operator's.
public struct ListedDomain: Equatable, Sendable {
    public let domain: HostedDomain
    public let owner: Email?

    public init(domain: HostedDomain, owner: Email?) {
        self.domain = domain
        self.owner = owner
    }
}

/// What became of a new domain.
public enum DomainInsertion: Equatable, Sendable {
    case inserted
    case alreadyExists
    case limitReached
}

/// What became of a domain that was to go.
public enum DomainRemoval: Equatable, Sendable {
    case removed
    case inUse
    case absent
}
