public import AuthCore
internal import Synchronization

extension MemoryStore: AccountStore {
    public func insert(
        _ account: Account, on domain: DomainID?, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion {
        try state.withLock { state in
            if let domain {
                guard state.domains[domain] != nil else { return .domainGone }
            }
            if let owner = account.owner, let limit {
                let held = state.accountsOfOwner[owner, default: []].count
                guard held < limit else { return .limitReached }
            }
            guard state.isFree(account) else { return .addressTaken }
            try state.demand(account.owner)
            state.add(account)
            state.record(event)
            return .inserted
        }
    }

    public func account(id: AccountID) async throws -> Account? {
        state.withLock { $0.accounts[id] }
    }

    public func account(address: Address) async throws -> Account? {
        state.withLock { state in state.ids[address].flatMap { state.accounts[$0] } }
    }

    public func account(apiKey: APIKeyDigest) async throws -> Account? {
        state.withLock { state in state.keyOwners[apiKey].flatMap { state.accounts[$0] } }
    }

    public func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential,
        recording event: AuditEvent
    ) async throws -> Bool {
        state.withLock { state in
            guard var account = state.accounts[id], account.state == .active,
                account.credentialVersion == version
            else { return false }
            if let digest = credential.digest {
                guard [nil, id].contains(state.keyOwners[digest]) else { return false }
            }
            state.remove(account)
            account.credential = credential
            account.credentialVersion += 1
            state.add(account)
            state.record(event)
            return true
        }
    }

    public func rehash(
        _ id: AccountID, from old: PasswordHash, to new: PasswordHash
    ) async throws -> Bool {
        state.withLock { state in
            guard state.accounts[id]?.credential == .password(old) else { return false }
            state.accounts[id]?.credential = .password(new)
            return true
        }
    }

    public func delete(
        _ id: AccountID, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        state.withLock { state in
            guard let account = state.accounts[id],
                version == nil || version == account.credentialVersion
            else { return false }
            state.remove(account)
            state.retired.insert(account.address)
            state.record(event)
            return true
        }
    }
}

extension MemoryStore: AccountDirectory {
    public func accounts(after address: Address?, limit: Int) async throws -> [Account] {
        let all = state.withLock { Array($0.accounts.values) }
        let start = address?.description
        return Array(
            all.map { (text: $0.address.description, account: $0) }
                .filter { entry in start.map { entry.text > $0 } ?? true }
                .sorted { $0.text < $1.text }
                .prefix(max(0, limit))
                .map(\.account))
    }

    public func setState(
        of id: AccountID, to new: Account.State, recording event: AuditEvent
    ) async throws -> Bool {
        state.withLock { state in
            guard var account = state.accounts[id] else { return false }
            // It has the state already, and nothing happened that could be told of.
            guard account.state != new else { return true }
            if new == .disabled { account.credentialVersion += 1 }
            account.state = new
            state.accounts[id] = account
            state.record(event)
            return true
        }
    }

    public func free(_ address: Address, recording event: AuditEvent) async throws -> Bool {
        state.withLock { state in
            guard state.retired.remove(address) != nil else { return false }
            state.record(event)
            return true
        }
    }

    public func note(_ reports: [UsageReport]) async throws -> [Bool] {
        state.withLock { state in
            reports.map { report in
                guard let id = state.ids[report.address] else { return false }
                state.accounts[id]?.used = report.used
                return true
            }
        }
    }
}

extension MemoryStore.State {
    fileprivate func isFree(_ account: Account) -> Bool {
        accounts[account.id] == nil && ids[account.address] == nil
            && !retired.contains(account.address)
            && account.credential.digest.flatMap { keyOwners[$0] } == nil
    }

    fileprivate mutating func add(_ account: Account) {
        accounts[account.id] = account
        ids[account.address] = account.id
        accountsOnDomain[account.address.domain, default: 0] += 1
        if let digest = account.credential.digest { keyOwners[digest] = account.id }
        if let owner = account.owner { accountsOfOwner[owner, default: []].insert(account.id) }
    }

    fileprivate mutating func remove(_ account: Account) {
        accounts[account.id] = nil
        ids[account.address] = nil
        accountsOnDomain[account.address.domain, default: 0] -= 1
        if let digest = account.credential.digest { keyOwners[digest] = nil }
        if let owner = account.owner { accountsOfOwner[owner]?.remove(account.id) }
    }
}
