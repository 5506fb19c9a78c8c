/// The use of a signing key. Every use has keys of its own, so that a token of one use is never
/// valid for another, even with the same claims.
public enum KeyUse: String, CaseIterable, Sendable {
    /// HMAC for agent challenges and sessions.
    case agent
    /// HMAC for the accounts API: challenges, Email JWTs, Pro JWTs.
    case accounts
    /// A key pair for capability tokens, published in `jwks.json`.
    case capability
    /// RSA for hash-login tokens, published in `login-jwks.json`.
    case login
}

/// A signing key as it is stored: encrypted with a key that is derived from the master secret.
public struct SealedKey: Equatable, Sendable {
    /// The `kid`: unique among all keys.
    public let id: String
    public let use: KeyUse
    /// AES-256-GCM: a nonce of 12 bytes, the ciphertext, a tag of 16 bytes. `use` and `id` are the
    /// additional authenticated data.
    public let sealed: [UInt8]
    /// When it was made. For a key that signs at a later time, that time minus
    /// ``KeyUse/publicationLead``. So every program on the database, including older versions, lets
    /// it sign at that time.
    public var created: Instant
    /// `nil` for the newest key of its use. For an older key, the instant until which it verifies.
    public var retired: Instant?

    public init(
        id: String, use: KeyUse, sealed: [UInt8], created: Instant, retired: Instant? = nil
    ) {
        self.id = id
        self.use = use
        self.sealed = sealed
        self.created = created
        self.retired = retired
    }
}

/// Stores the signing keys, which all servers on one database share.
public protocol SigningKeyStore: Sendable {
    /// All keys, signing and retired, newest first within a use.
    func keys() async throws -> [SealedKey]

    /// A number that has changed when another process has changed the keys since the last call. It
    /// may change for other reasons. Costs less than reading the keys.
    func changeCount() async throws -> Int64

    /// Adds `key` as the current key of its use, if that use has none. Of concurrent calls on
    /// several servers exactly one returns `true`; the other servers then read the key that was
    /// stored.
    func insertFirst(_ key: SealedKey) async throws -> Bool

    /// Makes `key` the current key of its use and retires the keys that it replaces, which verify
    /// until `retiring`. Atomic.
    /// - Returns: `false`, having changed nothing, when the key to replace is not the current one.
    func rotate(
        to key: SealedKey, replacing replaced: ReplacedKeys, retiring: Instant,
        recording event: AuditEvent
    ) async throws -> Bool

    /// Replaces the encrypted form of every key by the result of `seal`, and that of every
    /// ``SealedSecret`` by the result of `secrets`: all or none. What other servers store meanwhile
    /// comes before or after it.
    /// - Returns: how many keys there are.
    /// - Throws: the errors of `seal`, and an error if there is a key of an unknown use.
    func reseal(
        recording event: AuditEvent,
        secrets: @escaping @Sendable (SealedSecret, _ sealed: [UInt8]) throws -> [UInt8],
        _ seal: @escaping @Sendable (SealedKey) throws -> [UInt8]
    ) async throws -> Int

    /// Removes keys that no longer verify at `instant`.
    /// - Returns: how many were removed.
    func removeRetired(before instant: Instant) async throws -> Int
}

/// The keys that a rotation retires.
public enum ReplacedKeys: Equatable, Sendable {
    /// The key with this id, if it is the current one.
    case current(id: String)
    /// The current key, whichever it is, and every older one that would verify for longer.
    case all
}
