public import AuthCore
internal import Synchronization

extension MemoryStore: AccountStore {
    public func insert(_ account: Account) async throws -> Bool {
        state.withLock { state in
            guard state.accounts[account.id] == nil, state.ids[account.address] == nil,
                !state.retired.contains(account.address),
                state.keyOwners[account.credential.digest] == nil
            else { return false }
            state.accounts[account.id] = account
            state.ids[account.address] = account.id
            state.keyOwners[account.credential.digest] = account.id
            return true
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
        of id: AccountID, at version: Int64, with credential: Credential
    ) async throws -> Bool {
        state.withLock { state in
            guard var account = state.accounts[id], account.state == .active,
                account.credentialVersion == version,
                [nil, id].contains(state.keyOwners[credential.digest])
            else { return false }
            state.keyOwners[account.credential.digest] = nil
            state.keyOwners[credential.digest] = id
            account.credential = credential
            account.credentialVersion += 1
            state.accounts[id] = account
            return true
        }
    }

    public func setState(of id: AccountID, to new: Account.State) async throws -> Bool {
        state.withLock { state in
            guard var account = state.accounts[id] else { return false }
            if account.state == .active, new == .disabled { account.credentialVersion += 1 }
            account.state = new
            state.accounts[id] = account
            return true
        }
    }

    public func delete(_ id: AccountID, at version: Int64?) async throws -> Bool {
        state.withLock { state in
            guard let account = state.accounts[id],
                version == nil || version == account.credentialVersion
            else { return false }
            state.accounts[id] = nil
            state.ids[account.address] = nil
            state.keyOwners[account.credential.digest] = nil
            state.retired.insert(account.address)
            return true
        }
    }

    public func free(_ address: Address) async throws -> Bool {
        state.withLock { $0.retired.remove(address) != nil }
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
}

extension Credential {
    /// What the credential is looked up by.
    var digest: APIKeyDigest {
        switch self {
        case .apiKey(let digest): digest
        }
    }
}
