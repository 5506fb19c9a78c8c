public import AuthCore
internal import Synchronization

extension MemoryStore: APITokenStore {
    public func insert(
        _ token: APIToken, limit: Int, recording event: AuditEvent
    ) async throws -> Bool {
        try state.withLock { state in
            let live = state.tokens(of: token.owner).count { $0.end(at: token.created) == nil }
            guard live < limit, state.tokens[token.id] == nil,
                state.tokenIDs[token.digest] == nil
            else { return false }
            try state.demand(token.owner)
            state.tokens[token.id] = token
            state.tokenIDs[token.digest] = token.id
            state.tokensOfOwner[token.owner, default: []].append(token.id)
            state.forgetEndedTokens(of: token.owner, at: token.created)
            state.record(event)
            return true
        }
    }

    public func holder(
        digest: APIKeyDigest
    ) async throws -> (token: APIToken, owner: User)? {
        state.withLock { state in
            guard let id = state.tokenIDs[digest], let token = state.tokens[id],
                let owner = state.users[token.owner]
            else { return nil }
            return (token, owner)
        }
    }

    public func tokens(of owner: UserID) async throws -> [APIToken] {
        let all = state.withLock { $0.tokens(of: owner) }
        let revoked = all.compactMap { token in token.revoked.map { ($0, token.id.text, token) } }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .suffix(APIToken.endedKept)
        let listed = all.filter { $0.revoked == nil } + revoked.map(\.2)
        return listed.sorted { ($0.created, $0.id.text) < ($1.created, $1.id.text) }
    }

    public func revoke(
        _ id: APITokenID, of owner: UserID, at now: Instant, recording event: AuditEvent
    ) async throws -> Bool {
        state.withLock { state in
            guard let token = state.tokens[id], token.owner == owner, token.revoked == nil else {
                return false
            }
            state.tokens[id]?.revoked = now
            state.record(event)
            return true
        }
    }

    public func noteUse(
        of id: APITokenID, at now: Instant, unlessSince since: Instant
    ) async throws {
        state.withLock { state in
            if let last = state.tokens[id]?.lastUsed, last >= since { return }
            state.tokens[id]?.lastUsed = now
        }
    }
}

extension MemoryStore.State {
    fileprivate func tokens(of owner: UserID) -> [APIToken] {
        tokensOfOwner[owner, default: []].compactMap { tokens[$0] }
    }

    /// All but the latest that are kept.
    fileprivate mutating func forgetEndedTokens(of owner: UserID, at now: Instant) {
        let ended = tokens(of: owner)
            .compactMap { token in token.end(at: now).map { ($0, token.id.text, token) } }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        for (_, _, token) in ended.dropLast(APIToken.endedKept) {
            tokens[token.id] = nil
            tokenIDs[token.digest] = nil
            tokensOfOwner[owner]?.removeAll { $0 == token.id }
        }
    }
}
