public import Cryptography
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
        let schedule: KeySchedule
        let current: SigningKey
        /// The key before it.
        let previous: SigningKey?
        let verifying: [VerificationKey]

        func signing(at now: Instant) -> SigningKey {
            if let previous, schedule.previousSigns(at: now) { return previous }
            return current
        }
    }

    private struct State {
        var sealer: KeySealer
        var ready: [KeyUse: UseKeys] = [:]
        var loading: [KeyUse: Task<UseKeys, any Error>] = [:]
        var refreshed: Instant?
        /// The stored keys from which `ready` was made.
        var stored: [SealedKey] = []
        /// The number of reads of the stored keys that have begun, and the one from which `ready`
        /// was made.
        var reads = 0
        var applied = 0
    }

    private static let refreshInterval: Duration = .seconds(5)

    private let store: any SigningKeyStore
    private let rereadSealer: (@Sendable () throws -> KeySealer)?
    private let capabilityAlgorithm: SignatureAlgorithm
    private let pool: WorkerPool
    private let random: @Sendable (Int) -> [UInt8]
    private let keyPair: @Sendable (SignatureAlgorithm) throws -> PrivateKey
    private let clock: @Sendable () -> Instant
    private let state: Mutex<State>

    /// - Parameters:
    ///   - rereadSealer: called when `sealer` does not open the stored keys, because the operator
    ///     may have replaced the master secret.
    ///   - capabilityAlgorithm: the algorithm of new keys for capabilities. Stored keys keep
    ///     theirs.
    ///   - pool: where key pairs are generated.
    ///   - random: returns that many random bytes, fit for keys.
    ///   - keyPair: generates a key pair. A parameter because RSA takes tests most of their time.
    ///   - clock: the wall clock. A parameter because keys are also generated in the background,
    ///     where no caller passes the time.
    public init(
        store: any SigningKeyStore, sealer: KeySealer,
        rereadSealer: (@Sendable () throws -> KeySealer)? = nil,
        capabilityAlgorithm: SignatureAlgorithm = .rs256, pool: WorkerPool,
        random: @escaping @Sendable (Int) -> [UInt8],
        keyPair: @escaping @Sendable (SignatureAlgorithm) throws -> PrivateKey = {
            try PrivateKey.generate($0)
        },
        clock: @escaping @Sendable () -> Instant
    ) {
        self.store = store
        self.rereadSealer = rereadSealer
        self.capabilityAlgorithm = capabilityAlgorithm
        self.pool = pool
        self.random = random
        self.keyPair = keyPair
        self.clock = clock
        state = Mutex(State(sealer: sealer))
    }

    /// Decrypts every stored key and begins to generate the missing ones.
    /// - Parameter generatesMissing: otherwise a missing key is generated when it is first used.
    /// - Throws: ``UnreadableKey`` for a wrong master secret, so that the start fails and not the
    ///   first request.
    public func start(generatesMissing: Bool = true) async throws {
        try await refresh()
        guard generatesMissing else { return }
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
    /// The new key is stored at once, and signs after ``KeyUse/publicationLead`` or `delay`,
    /// whichever is longer; until then the old key signs. Tokens of the old key stay valid for
    /// `grace` after it has stopped signing.
    /// - Parameter grace: zero for a key that has leaked: then the new key signs at once, and every
    ///   older key and all its tokens are invalid at once.
    /// - Throws: ``RotationError``.
    public func rotate(
        _ use: KeyUse, grace: Duration, in delay: Duration = .zero
    ) async throws -> RotatedKey {
        try await refresh()
        if grace == .zero { return try await replace(use, grace: .zero, delay: .zero) }
        guard let schedule = state.withLock({ $0.ready[use]?.schedule }) else {
            // There is no key to retire, so the first key is generated, as at a start.
            return RotatedKey(id: try await keys(for: use).current.id, signsFrom: clock())
        }
        return try await replacePlanned(use, schedule, grace: grace, delay: delay, by: .operator)
    }

    /// Rotates `use` if its current key was created `age` ago or earlier. Of several servers on one
    /// database that call it at the same time, one rotates.
    /// - Returns: the new key; `nil` when no rotation is due, or another server was first.
    public func rotate(
        _ use: KeyUse, olderThan age: Duration, grace: Duration
    ) async throws -> RotatedKey? {
        try await refresh()
        let now = clock()
        guard let schedule = state.withLock({ $0.ready[use]?.schedule }),
            schedule.created.advanced(by: age) <= now, !schedule.previousSigns(at: now)
        else { return nil }
        do {
            return try await replace(
                use, replacing: schedule.current, grace: grace, delay: .zero, by: .server)
        } catch RotationError.overtaken {
            return nil
        }
    }

    /// Makes a key of the configured algorithm for capabilities, as a rotation does, if the newest
    /// key has another one. Of several servers on one database that call it at the same time, one
    /// makes a key.
    /// - Returns: the new key; `nil` when the newest key has the algorithm already.
    /// - Throws: ``RotationError``. While the newest key does not sign yet, another one cannot be
    ///   made: call again later.
    public func changeAlgorithm(grace: Duration) async throws -> RotatedKey? {
        let use = KeyUse.capability
        try await refresh()
        // The first key will have it.
        let exists = state.withLock { $0.ready[use] != nil || $0.loading[use] != nil }
        guard exists else { return nil }
        let newest = try await keys(for: use)
        guard newest.current.algorithm != capabilityAlgorithm.rawValue else { return nil }
        return try await replacePlanned(use, newest.schedule, grace: grace, by: .server)
    }

    /// Replaces the current key, unless the replacement before it is not complete.
    private func replacePlanned(
        _ use: KeyUse, _ schedule: KeySchedule, grace: Duration, delay: Duration = .zero,
        by actor: AuditEvent.Actor
    ) async throws -> RotatedKey {
        if schedule.previousSigns(at: clock()) {
            throw RotationError.pending(id: schedule.current, signsFrom: schedule.signsFrom)
        }
        return try await replace(
            use, replacing: schedule.current, grace: grace, delay: delay, by: actor)
    }

    /// - Parameter id: the id of the current key; `nil` ends all keys.
    private func replace(
        _ use: KeyUse, replacing id: String? = nil, grace: Duration, delay: Duration,
        by actor: AuditEvent.Actor = .operator
    ) async throws -> RotatedKey {
        var key = try await makeKey(use)
        let now = clock()
        let lead = max(delay, use.publicationLead)
        key.created = now.advanced(by: lead - use.publicationLead)
        let isMade = try await store.rotate(
            to: key, replacing: id.map { .current(id: $0) } ?? .all,
            retiring: id == nil ? now : now.advanced(by: grace + lead),
            recording: AuditEvent(.keyRotated, time: now, actor: actor, subject: key.id))
        guard isMade else { throw RotationError.overtaken }
        try await refresh()
        return RotatedKey(id: key.id, signsFrom: id == nil ? now : now.advanced(by: lead))
    }

    /// The id of the key that signs, for every use whose keys have been read.
    public func signers(at now: Instant) -> [KeyUse: String] {
        state.withLock { $0.ready.mapValues { $0.schedule.signer(at: now) } }
    }

    /// When the newest key was created, for every use whose keys have been read.
    public func creations() -> [KeyUse: Instant] {
        state.withLock { $0.ready.mapValues(\.schedule.created) }
    }

    /// The public keys that verify tokens of `use` now, the newest first.
    public func published(_ use: KeyUse, at now: Instant) async throws -> [PublishedKey] {
        try await verificationKeys(for: use, at: now).compactMap { key in
            guard case .publicKey(let found) = key.material else { return nil }
            return PublishedKey(
                id: key.id, algorithm: found.algorithm, parameters: found.parameters,
                pem: found.pem)
        }
    }

    /// Returns the published key that signs new tokens. The newest key signs only after verifiers
    /// had time to fetch it (``KeyUse/publicationLead``).
    public func publishedSigner(_ use: KeyUse, at now: Instant) async throws -> PublishedKey? {
        let signer = try await signingKey(for: use, at: now).id
        return try await published(use, at: now).first { $0.id == signer }
    }

    func signingKey(for use: KeyUse, at now: Instant) async throws -> SigningKey {
        try await keys(for: use).signing(at: now)
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
            // Not compared after the clock was set back, because the wait could then be very long.
            if let refreshed = state.refreshed, refreshed <= now,
                now.since(refreshed) < Self.refreshInterval
            {
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
        let (random, keyPair) = (self.random, self.keyPair)
        let algorithm = use == .capability ? capabilityAlgorithm : .rs256
        let make: @Sendable () throws -> SecretBytes = {
            try SigningKey.makeSecret(
                for: use, algorithm: algorithm, random: random, keyPair: keyPair)
        }
        let secret =
            switch use {
            case .agent, .accounts: try make()
            case .capability, .login: try await pool.run(for: nil, make)
            }
        // Fails if the keys were encrypted under another master secret meanwhile. A key under the
        // old one could not be decrypted any more.
        try await refresh()
        let id = Base64URL.encode(random(12))
        var bytes = secret.bytes
        defer { bytes.wipe() }
        return SealedKey(
            id: id, use: use,
            sealed: try state.withLock { $0.sealer }.seal(bytes, id: id, use: use),
            created: clock())
    }

    /// Encrypts a secret for the database.
    public func seal(_ bytes: [UInt8], as secret: SealedSecret) throws -> [UInt8] {
        try state.withLock { $0.sealer }.seal(bytes, as: secret)
    }

    /// - Throws: ``UnreadableKey`` when it was encrypted under another master secret.
    public func open(_ sealed: [UInt8], as secret: SealedSecret) throws -> [UInt8] {
        do {
            return try state.withLock { $0.sealer }.open(sealed, as: secret)
        } catch let error as UnreadableKey {
            // The operator has replaced the master secret, and the keys were not read again yet.
            guard let sealer = try? rereadSealer?() else { throw error }
            return try sealer.open(sealed, as: secret)
        }
    }

    /// Decrypts the keys. If the known master secret does not fit, it is read again.
    private func open(_ stored: [SealedKey]) throws -> [KeyUse: UseKeys] {
        do {
            return try Self.open(stored, with: state.withLock { $0.sealer })
        } catch let error as UnreadableKey {
            // If the file cannot be read now, the error is that the known secret does not fit.
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
            guard let schedule = KeySchedule(of: use, in: stored) else { continue }
            var keys: [String: SigningKey] = [:]
            var verifying: [VerificationKey] = []
            for sealed in stored where sealed.use == use {
                var bytes = try sealer.open(sealed)
                defer { bytes.wipe() }
                let key = try SigningKey(id: sealed.id, use: use, bytes: bytes)
                keys[key.id] = key
                verifying.append(
                    VerificationKey(
                        id: key.id, material: key.verification, retired: sealed.retired))
            }
            guard let current = keys[schedule.current] else { continue }
            opened[use] = UseKeys(
                schedule: schedule, current: current,
                previous: schedule.previous.flatMap { keys[$0] }, verifying: verifying)
        }
        return opened
    }
}

/// A key that a rotation has made.
public struct RotatedKey: Equatable, Sendable {
    public let id: String
    public let signsFrom: Instant
}

/// Why a key was not rotated. Nothing has changed.
public enum RotationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A rotation has made a key already that does not sign yet. Another one would sign before
    /// verifiers have fetched it.
    case pending(id: String, signsFrom: Instant)
    /// Another process has rotated the key meanwhile.
    case overtaken

    public var description: String {
        switch self {
        case .pending(let id, let signsFrom):
            "the new key \(id) is published and signs from \(signsFrom.rfc3339); rotate again after"
                + " that, or with --leaked at once"
        case .overtaken:
            "another process has rotated the key at the same time; see `postern key list`"
        }
    }
}

/// The store has no key for a use although one was just stored.
struct MissingKey: Error {
    let use: KeyUse
}
