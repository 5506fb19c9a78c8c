internal import Cryptography
public import Scheduling
internal import Synchronization

/// Owns the signing keys of this server, decrypted: generates missing ones, reads those that other
/// servers on the same database have stored, and chooses the key that signs.
///
/// On a first start the keys are generated in the background, and a caller that needs one waits for
/// it. Servers on one database share keys: when several generate one at the same time, the first
/// that is stored is used by all. A token with an unknown key id makes the ring read the stored
/// keys again, at most every few seconds. The program calls ``start()`` once, and ``refresh()``
/// when another process may have changed the keys.
public final class KeyRing: Sendable {
    private struct UseKeys: Sendable {
        let current: SigningKey
        /// When the current key was created.
        let since: Instant
        /// The key before it, and the instant until which it verifies tokens.
        let previous: (key: SigningKey, retired: Instant)?
        let verifying: [VerificationKey]

        func signing(for use: KeyUse, at now: Instant) -> SigningKey {
            guard use.isPublished, let previous, now < since.advanced(by: use.lead),
                now < previous.retired
            else { return current }
            return previous.key
        }
    }

    /// How long a new key is published before it signs. It must be longer than caches keep the key
    /// set (five minutes) plus the time in which other servers on the database read the key.
    public static let publicationLead: Duration = .seconds(360)

    private struct State {
        var sealer: KeySealer
        var ready: [KeyUse: UseKeys] = [:]
        var loading: [KeyUse: Task<UseKeys, any Error>] = [:]
        var refreshed: Instant?
        /// The stored keys that `ready` was made from.
        var stored: [SealedKey] = []
        /// How often reading the stored keys has begun, and which of these reads `ready` is from.
        var reads = 0
        var applied = 0
    }

    private static let refreshInterval: Duration = .seconds(5)

    private let store: any SigningKeyStore
    private let rereadSealer: (@Sendable () throws -> KeySealer)?
    private let pool: WorkerPool
    private let random: @Sendable (Int) -> [UInt8]
    private let clock: @Sendable () -> Instant
    private let state: Mutex<State>

    /// - Parameters:
    ///   - rereadSealer: called when `sealer` does not open the stored keys, because the operator
    ///     may have replaced the master secret.
    ///   - pool: where RSA keys are generated.
    ///   - random: returns that many random bytes, fit for keys.
    ///   - clock: the wall clock. A parameter because keys are also generated in the background,
    ///     where no caller passes the time.
    public init(
        store: any SigningKeyStore, sealer: KeySealer,
        rereadSealer: (@Sendable () throws -> KeySealer)? = nil, pool: WorkerPool,
        random: @escaping @Sendable (Int) -> [UInt8], clock: @escaping @Sendable () -> Instant
    ) {
        self.store = store
        self.rereadSealer = rereadSealer
        self.pool = pool
        self.random = random
        self.clock = clock
        state = Mutex(State(sealer: sealer))
    }

    /// Decrypts every stored key and begins to generate the missing ones.
    /// - Throws: ``UnreadableKey`` for a wrong master secret, so that the start fails and not the
    ///   first request.
    public func start() async throws {
        try await refresh()
        for use in KeyUse.allCases {
            _ = state.withLock { Self.keysOrLoad(use, in: &$0, load: load) }
        }
    }

    /// Reads the stored keys again, so that a rotation by another server takes effect here.
    public func refresh() async throws {
        let read = state.withLock { state in
            state.reads += 1
            return state.reads
        }
        let stored = try await store.keys()
        let isKnown = state.withLock { $0.stored == stored }
        let opened = isKnown ? [:] : try open(stored)
        state.withLock { state in
            state.refreshed = clock()
            // A read that began earlier may end later. It must not bring back a key that has
            // been retired meanwhile.
            guard !isKnown, read > state.applied else { return }
            for (use, keys) in opened { state.ready[use] = keys }
            state.stored = stored
            state.applied = read
        }
    }

    /// Generates a new key for `use` and retires the current one.
    ///
    /// A key that others verify with is published for ``publicationLead`` before it signs; until
    /// then the old key signs. Tokens of the old key stay valid for `grace` after it has stopped
    /// signing.
    /// - Parameter grace: zero for a key that has leaked: then the old key and all its tokens are
    ///   invalid at once.
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

    /// The public keys that verify tokens of `use` now, the newest first.
    public func published(_ use: KeyUse, at now: Instant) async throws -> [PublishedKey] {
        try await verificationKeys(for: use, at: now).compactMap { key in
            guard case .rsa(let rsa) = key.material else { return nil }
            return PublishedKey(
                id: key.id, modulus: Base64URL.encode(rsa.modulus),
                exponent: Base64URL.encode(rsa.exponent), pem: rsa.pem)
        }
    }

    /// Returns the published key that signs new tokens. The newest key signs only after verifiers
    /// had time to fetch it (``publicationLead``).
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

    /// Whether the stored keys may be read again for an unknown key id. Limited because any client
    /// can send an invented key id.
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

    /// Generates the first key of a use, or reads the one that another server has stored meanwhile.
    private func load(_ use: KeyUse) async throws -> UseKeys {
        // The task is removed after a failure, too, so that the next request tries again.
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
        let secret =
            switch use {
            case .agent, .accounts: try SigningKey.makeSecret(for: use, random: random)
            case .capability, .login:
                try await pool.run(for: nil) { try SigningKey.makeSecret(for: use, random: random) }
            }
        // Fails when the keys have been sealed under another master secret meanwhile: a key under
        // the old one could not be opened any more.
        try await refresh()
        let id = Base64URL.encode(random(12))
        var bytes = secret.bytes
        defer { bytes.wipe() }
        return SealedKey(
            id: id, use: use,
            sealed: try state.withLock { $0.sealer }.seal(bytes, id: id, use: use),
            created: clock())
    }

    /// Decrypts the keys, with the master secret as it is now when the known one does not fit.
    private func open(_ stored: [SealedKey]) throws -> [KeyUse: UseKeys] {
        do {
            return try Self.open(stored, with: state.withLock { $0.sealer })
        } catch let error as UnreadableKey {
            // A file that cannot be read now says no more than that the known secret does not fit.
            guard let sealer = try? rereadSealer?() else { throw error }
            let opened = try Self.open(stored, with: sealer)
            state.withLock { $0.sealer = sealer }
            return opened
        }
    }

    private static func open(
        _ stored: [SealedKey], with sealer: KeySealer
    ) throws -> [KeyUse: UseKeys] {
        var opened: [KeyUse: UseKeys] = [:]
        for use in KeyUse.allCases {
            var current: (key: SigningKey, since: Instant)?
            var previous: (key: SigningKey, retired: Instant)?
            var verifying: [VerificationKey] = []
            // The store returns the newest first, so the first retired key is the previous one.
            for sealed in stored where sealed.use == use {
                var bytes = try sealer.open(sealed)
                defer { bytes.wipe() }
                let key = try SigningKey(id: sealed.id, use: use, bytes: bytes)
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
    /// Whether its public keys are published. Other programs then verify with them and cache them.
    fileprivate var isPublished: Bool {
        switch self {
        case .agent, .accounts: false
        case .capability, .login: true
        }
    }

    fileprivate var lead: Duration { isPublished ? KeyRing.publicationLead : .zero }
}

/// The store has no key for a use although one was just stored.
struct MissingKey: Error {
    let use: KeyUse
}
