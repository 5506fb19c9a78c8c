public import AuthCore
internal import Synchronization

/// The stores of AuthCore as one table in memory: for tests, and as the engine that every other is
/// compared with.
///
/// Promises what the protocols say except durability: what it holds is gone with the process. It
/// never waits and is never busy, and its cost per call does not grow with the accounts it holds,
/// save for sweeping and listing.
public final class MemoryStore: Sendable {
    struct State {
        var accounts: [AccountID: Account] = [:]
        var ids: [Address: AccountID] = [:]
        var keyOwners: [APIKeyDigest: AccountID] = [:]
        var accountsOfOwner: [UserID: Set<AccountID>] = [:]
        var accountsOnDomain: [Domain: Int] = [:]
        var retired: Set<Address> = []
        var users: [UserID: User] = [:]
        var userIDs: [Email: UserID] = [:]
        var tokens: [APITokenID: APIToken] = [:]
        var tokenIDs: [APIKeyDigest: APITokenID] = [:]
        var tokensOfOwner: [UserID: [APITokenID]] = [:]
        var domains: [DomainID: HostedDomain] = [:]
        var domainIDs: [Domain: DomainID] = [:]
        var hashLogins: [Email: HashLogin] = [:]
        var spent: [String: Instant] = [:]
        var signingKeys: [SealedKey] = []
        var events: [AuditRecord] = []
        /// How many events there have been, those trimmed away among them.
        var recorded: Int64 = 0
    }

    let state = Mutex(State())

    public init() {}
}

extension MemoryStore: ChallengeLedger {
    public func spend(_ id: String, expiry: Instant) async throws -> Bool {
        state.withLock { state in
            guard state.spent[id] == nil else { return false }
            state.spent[id] = expiry
            return true
        }
    }

    public func restore(_ id: String) async throws {
        state.withLock { $0.spent[id] = nil }
    }

    public func sweep(before instant: Instant, limit: Int) async throws -> Int {
        state.withLock { state in
            let expired = state.spent.lazy.filter { $0.value < instant }
            let ids = Array(expired.prefix(max(0, limit)).map(\.key))
            for id in ids { state.spent[id] = nil }
            return ids.count
        }
    }
}

extension MemoryStore: SigningKeyStore {
    public func keys() async throws -> [SealedKey] {
        state.withLock { $0.signingKeys }.sorted(by: SealedKey.isListedBefore)
    }

    public func insertFirst(_ key: SealedKey) async throws -> Bool {
        state.withLock { state in
            let taken = state.signingKeys.contains {
                $0.id == key.id || ($0.use == key.use && $0.retired == nil)
            }
            guard !taken else { return false }
            state.signingKeys.append(key.signing)
            return true
        }
    }

    public func rotate(
        to key: SealedKey, retiring: Instant, recording event: AuditEvent
    ) async throws {
        try state.withLock { state in
            guard !state.signingKeys.contains(where: { $0.id == key.id }) else {
                throw StorageError.duplicateKey(id: key.id)
            }
            for index in state.signingKeys.indices
            where state.signingKeys[index].use == key.use
                && state.signingKeys[index].retired == nil
            {
                state.signingKeys[index].retired = retiring
            }
            state.signingKeys.append(key.signing)
            state.record(event)
        }
    }

    public func removeRetired(before instant: Instant) async throws -> Int {
        state.withLock { state in
            let before = state.signingKeys.count
            state.signingKeys.removeAll { key in key.retired.map { $0 < instant } ?? false }
            return before - state.signingKeys.count
        }
    }
}

extension SealedKey {
    /// The order in which ``SigningKeyStore/keys()`` lists: by use, newest first, the signing one
    /// before a retired one of the same millisecond.
    static func isListedBefore(_ left: SealedKey, _ right: SealedKey) -> Bool {
        if left.use != right.use { return left.use.rawValue < right.use.rawValue }
        if left.created != right.created { return left.created > right.created }
        if (left.retired == nil) != (right.retired == nil) { return left.retired == nil }
        return left.id < right.id
    }

    /// This key as one that signs, whatever it was handed in as.
    fileprivate var signing: SealedKey {
        SealedKey(id: id, use: use, sealed: sealed, created: created)
    }
}
