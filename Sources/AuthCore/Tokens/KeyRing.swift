internal import Cryptography
public import Scheduling
internal import Synchronization

/// The signing keys of this server, opened and ready.
///
/// On a first start the keys are made in the background; whoever needs one waits for it. Servers
/// on one database share keys: the first to store one wins, the others read it, and a key id
/// that is not known makes the ring look again, at most every few seconds.
public final class KeyRing: Sendable {
    private struct UseKeys: Sendable {
        let current: SigningKey
        /// When the current key was made.
        let since: Instant
        /// The key before it, with the instant until which it verifies.
        let previous: (key: SigningKey, retired: Instant)?
        let verifying: [VerificationKey]

        func signing(for use: KeyUse, at now: Instant) -> SigningKey {
            guard use.isPublished, let previous, now < since.advanced(by: use.lead),
                now < previous.retired
            else { return current }
            return previous.key
        }
    }

    /// How long a new published key is shown before it signs: longer than caches keep the key set
    /// (five minutes) and servers on one database take to notice it (one).
    public static let publicationLead: Duration = .seconds(360)

    private struct State {
        var ready: [KeyUse: UseKeys] = [:]
        var loading: [KeyUse: Task<UseKeys, any Error>] = [:]
        var refreshed: Instant?
    }

    private static let refreshInterval: Duration = .seconds(5)

    private let store: any SigningKeyStore
    private let sealer: KeySealer
    private let pool: WorkerPool
    private let random: @Sendable (Int) -> [UInt8]
    private let clock: @Sendable () -> Instant
    private let state = Mutex(State())

    /// - Parameters:
    ///   - pool: where RSA keys are generated.
    ///   - clock: dates new keys; the ring works in the background, where no caller hands it a
    ///     time.
    public init(
        store: any SigningKeyStore, sealer: KeySealer, pool: WorkerPool,
        random: @escaping @Sendable (Int) -> [UInt8], clock: @escaping @Sendable () -> Instant
    ) {
        self.store = store
        self.sealer = sealer
        self.pool = pool
        self.random = random
        self.clock = clock
    }

    /// Opens every stored key, so that a wrong master secret stops the start rather than the
    /// first request, and begins to make the missing ones.
    public func start() async throws {
        try await refresh()
        for use in KeyUse.allCases {
            _ = state.withLock { Self.keysOrLoad(use, in: &$0, load: load) }
        }
    }

    /// Reads the stored keys again: what another server rotated takes effect here.
    public func refresh() async throws {
        let stored = try await store.keys()
        let opened = try Self.open(stored, with: sealer)
        state.withLock { state in
            for (use, keys) in opened { state.ready[use] = keys }
            state.refreshed = clock()
        }
    }

    /// Makes a new key for `use` and retires the one before: what it signed verifies for
    /// `grace` after the last time it signs. A published key is shown for ``publicationLead``
    /// before it signs; until then the one before goes on.
    /// - Parameter grace: zero for a key that has leaked: it is dead at once, and so is what it
    ///   signed.
    /// - Returns: the new key's id.
    public func rotate(_ use: KeyUse, grace: Duration) async throws -> String {
        let key = try await makeKey(use)
        let now = clock()
        try await store.rotate(
            to: key, retiring: now.advanced(by: grace == .zero ? .zero : grace + use.lead),
            recording: AuditEvent(.keyRotated, time: now, actor: .operator, subject: key.id))
        try await refresh()
        return key.id
    }

    /// The public keys that verify tokens of `use` now, the signing one first.
    public func published(_ use: KeyUse, at now: Instant) async throws -> [PublishedKey] {
        try await verificationKeys(for: use, at: now).compactMap { key in
            guard case .rsa(let rsa) = key.material else { return nil }
            return PublishedKey(
                id: key.id, modulus: Base64URL.encode(rsa.modulus),
                exponent: Base64URL.encode(rsa.exponent), pem: rsa.pem)
        }
    }

    /// The one of the published keys that signs now. The newest may not yet: it is published first.
    public func publishedSigner(_ use: KeyUse, at now: Instant) async throws -> PublishedKey? {
        let signer = try await signingKey(for: use, at: now).id
        return try await published(use, at: now).first { $0.id == signer }
    }

    func signingKey(for use: KeyUse, at now: Instant) async throws -> SigningKey {
        try await keys(for: use).signing(for: use, at: now)
    }

    func verificationKeys(for use: KeyUse, at now: Instant) async throws -> [VerificationKey] {
        try await keys(for: use).verifying.filter { $0.verifies(at: now) }
    }

    func verificationKey(
        id: String, for use: KeyUse, at now: Instant
    ) async throws -> VerificationKey? {
        if let key = try await keys(for: use).verifying.first(where: { $0.id == id }) {
            return key.verifies(at: now) ? key : nil
        }
        guard beginRefresh() else { return nil }
        try await refresh()
        return try await verificationKeys(for: use, at: now).first { $0.id == id }
    }

    /// Whether it is time to look for a key id that is not known; anybody can make one up.
    private func beginRefresh() -> Bool {
        let now = clock()
        return state.withLock { state in
            if let refreshed = state.refreshed, now.since(refreshed) < Self.refreshInterval {
                return false
            }
            state.refreshed = now
            return true
        }
    }

    private func keys(for use: KeyUse) async throws -> UseKeys {
        let (ready, loading) = state.withLock { Self.keysOrLoad(use, in: &$0, load: load) }
        if let ready { return ready }
        guard let loading else { throw CancellationError() }
        return try await loading.value
    }

    private static func keysOrLoad(
        _ use: KeyUse, in state: inout State,
        load: @escaping @Sendable (KeyUse) async throws -> UseKeys
    ) -> (UseKeys?, Task<UseKeys, any Error>?) {
        if let keys = state.ready[use] { return (keys, nil) }
        if let task = state.loading[use] { return (nil, task) }
        let task = Task { try await load(use) }
        state.loading[use] = task
        return (nil, task)
    }

    /// Makes the first key of a use, or reads the one that another server made meanwhile.
    private func load(_ use: KeyUse) async throws -> UseKeys {
        // A failure is not kept: the next request tries again.
        defer { state.withLock { $0.loading[use] = nil } }
        if !(try await store.keys()).contains(where: { $0.use == use && $0.retired == nil }) {
            _ = try await store.insertFirst(try await makeKey(use))
        }
        try await refresh()
        guard let keys = state.withLock({ $0.ready[use] }) else { throw MissingKey(use: use) }
        return keys
    }

    private func makeKey(_ use: KeyUse) async throws -> SealedKey {
        let random = self.random
        let bytes =
            switch use {
            case .agent, .accounts: try SigningKey.makeBytes(for: use, random: random)
            case .capability, .login:
                try await pool.run { try SigningKey.makeBytes(for: use, random: random) }
            }
        let id = Base64URL.encode(random(12))
        return SealedKey(
            id: id, use: use, sealed: try sealer.seal(bytes, id: id, use: use), created: clock())
    }

    private static func open(
        _ stored: [SealedKey], with sealer: KeySealer
    ) throws -> [KeyUse: UseKeys] {
        var opened: [KeyUse: UseKeys] = [:]
        for use in KeyUse.allCases {
            var current: (key: SigningKey, since: Instant)?
            var previous: (key: SigningKey, retired: Instant)?
            var verifying: [VerificationKey] = []
            // Newest first, so the first retired one is the one before.
            for sealed in stored where sealed.use == use {
                let key = try SigningKey(
                    id: sealed.id, use: use, bytes: try sealer.open(sealed))
                if let retired = sealed.retired {
                    previous = previous ?? (key, retired)
                } else {
                    current = (key, sealed.created)
                }
                verifying.append(
                    VerificationKey(
                        id: key.id, material: key.verification, retired: sealed.retired))
            }
            guard let current else { continue }
            opened[use] = UseKeys(
                current: current.key, since: current.since, previous: previous,
                verifying: verifying)
        }
        return opened
    }
}

extension KeyUse {
    /// Whether others verify with its keys, and keep them in caches.
    fileprivate var isPublished: Bool {
        switch self {
        case .agent, .accounts: false
        case .capability, .login: true
        }
    }

    fileprivate var lead: Duration { isPublished ? KeyRing.publicationLead : .zero }
}

/// A use whose key was just stored and is not there: the store broke its promise.
struct MissingKey: Error {
    let use: KeyUse
}
