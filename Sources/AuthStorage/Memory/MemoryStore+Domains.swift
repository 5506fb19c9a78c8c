public import AuthCore
internal import Synchronization

extension MemoryStore: DomainStore {
    public func insert(
        _ domain: HostedDomain, limit: Int?, recording event: AuditEvent
    ) async throws -> DomainInsertion {
        try state.withLock { state in
            if let owner = domain.owner, let limit {
                guard state.domainCount(of: owner) < limit else { return .limitReached }
            }
            let before = state.domainIDs[domain.name].flatMap { state.domains[$0] }
            let isFree = before?.givesWay(to: domain) ?? true
            guard state.domains[domain.id] == nil, isFree else { return .alreadyExists }
            try state.demand(domain.owner)
            if let before { state.domains[before.id] = nil }
            state.domains[domain.id] = domain
            state.domainIDs[domain.name] = domain.id
            state.record(event)
            return .inserted
        }
    }

    public func domain(named name: Domain) async throws -> HostedDomain? {
        state.withLock { state in state.domainIDs[name].flatMap { state.domains[$0] } }
    }

    public func domain(id: DomainID, of owner: UserID) async throws -> HostedDomain? {
        state.withLock { state in state.domains[id].flatMap { $0.owner == owner ? $0 : nil } }
    }

    public func domains(of owner: UserID?) async throws -> [HostedDomain] {
        let all = state.withLock { Array($0.domains.values) }
        return all.filter { $0.owner == owner }
            .sorted { ($0.created, $0.id.text) < ($1.created, $1.id.text) }
    }

    public func setVerification(
        of id: DomainID, to verification: HostedDomain.Verification, hasMX: Bool, at now: Instant,
        recording event: AuditEvent
    ) async throws -> HostedDomain.Verification? {
        state.withLock { state in
            guard var domain = state.domains[id] else { return nil }
            if domain.verification != .verified {
                domain.verification = verification
                domain.verified = verification == .verified ? now : nil
                if verification == .verified { state.record(event) }
            }
            domain.hasMX = hasMX
            state.domains[id] = domain
            return domain.verification
        }
    }

    public func removeDomain(
        _ id: DomainID, of owner: UserID?, recording event: AuditEvent
    ) async throws -> DomainRemoval {
        state.withLock { state in
            guard let domain = state.domains[id], domain.owner == owner else { return .absent }
            guard state.accountsOnDomain[domain.name, default: 0] == 0 else { return .inUse }
            state.domains[id] = nil
            state.domainIDs[domain.name] = nil
            state.record(event)
            return .removed
        }
    }
}

extension MemoryStore: DomainDirectory {
    public func domains(after name: Domain?, limit: Int) async throws -> [ListedDomain] {
        let start = name?.text ?? ""
        return state.withLock { state in
            state.domains.values
                .filter { $0.name.text > start }
                .sorted { $0.name.text < $1.name.text }
                .prefix(max(0, limit))
                .map { domain in
                    ListedDomain(
                        domain: domain,
                        owner: domain.owner.flatMap { state.users[$0]?.email })
                }
        }
    }
}

extension MemoryStore.State {
    func domainCount(of owner: UserID) -> Int {
        domains.values.count { $0.owner == owner }
    }
}
