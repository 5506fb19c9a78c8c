public import AuthCore
internal import Synchronization

extension MemoryStore: UserStore {
    public func insert(_ user: User, recording event: AuditEvent) async throws -> Bool {
        state.withLock { state in
            guard state.users[user.id] == nil, state.userIDs[user.email] == nil else {
                return false
            }
            state.users[user.id] = user
            state.userIDs[user.email] = user.id
            state.record(event)
            return true
        }
    }

    public func user(id: UserID) async throws -> User? {
        state.withLock { $0.users[id] }
    }

    public func user(email: Email) async throws -> User? {
        state.withLock { state in state.userIDs[email].flatMap { state.users[$0] } }
    }

    public func replacePassword(
        of id: UserID, at version: Int64, with password: PasswordHash, recording event: AuditEvent
    ) async throws -> Bool {
        state.withLock { state in
            guard var user = state.users[id], user.state == .active,
                user.credentialVersion == version
            else { return false }
            user.password = password
            user.credentialVersion += 1
            state.users[id] = user
            state.record(event)
            return true
        }
    }

    public func rehash(
        _ id: UserID, from old: PasswordHash, to new: PasswordHash
    ) async throws -> Bool {
        state.withLock { state in
            guard state.users[id]?.password == old else { return false }
            state.users[id]?.password = new
            return true
        }
    }

    public func endSessions(
        of id: UserID, at version: Int64, recording event: AuditEvent
    ) async throws -> Bool {
        state.withLock { state in
            guard state.users[id]?.credentialVersion == version else { return false }
            state.users[id]?.credentialVersion += 1
            state.record(event)
            return true
        }
    }

    public func setState(
        of id: UserID, to new: User.State, recording event: AuditEvent
    ) async throws -> Bool {
        state.withLock { state in
            guard var user = state.users[id] else { return false }
            // It has the state already, and nothing happened that could be told of.
            guard user.state != new else { return true }
            if new == .disabled { user.credentialVersion += 1 }
            user.state = new
            state.users[id] = user
            state.record(event)
            return true
        }
    }

    public func users(after email: Email?, limit: Int) async throws -> [User] {
        let all = state.withLock { Array($0.users.values) }
        return Array(
            all.filter { user in email.map { user.email.text > $0.text } ?? true }
                .sorted { $0.email.text < $1.email.text }
                .prefix(max(0, limit)))
    }
}

extension MemoryStore: HoldingStore {
    public func accounts(
        of owner: UserID, after cursor: AccountCursor?, limit: Int
    ) async throws -> [Account] {
        let held = state.withLock { state in
            state.accountsOfOwner[owner, default: []].compactMap { state.accounts[$0] }
        }
        let start = cursor.map { ($0.created, $0.id.text) }
        return Array(
            held.filter { account in start.map { (account.created, account.id.text) > $0 } ?? true }
                .sorted { ($0.created, $0.id.text) < ($1.created, $1.id.text) }
                .prefix(max(0, limit)))
    }

    public func holdings(of owner: UserID) async throws -> (accounts: Int, domains: Int) {
        state.withLock { state in
            let accounts = state.accountsOfOwner[owner, default: []].count
            return (accounts, state.domainCount(of: owner))
        }
    }
}
