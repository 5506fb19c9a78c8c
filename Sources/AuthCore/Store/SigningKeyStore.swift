/// What a signing key is for. Every use has keys of its own, so no token of one kind can pass for
/// another even where the claims agree.
public enum KeyUse: String, CaseIterable, Sendable {
    /// HMAC for agent challenges and sessions.
    case agent
    /// HMAC for the accounts surface: challenges, Email JWTs, Pro JWTs.
    case accounts
    /// RSA for capability tokens, published in `jwks.json`.
    case capability
    /// RSA for hash-login tokens, published in `login-jwks.json`.
    case login
}

/// A signing key as it is stored: sealed under the master secret.
public struct SealedKey: Equatable, Sendable {
    /// The `kid`: unique among all keys.
    public let id: String
    public let use: KeyUse
    /// AES-256-GCM: 12 bytes nonce, ciphertext, 16 bytes tag; `use` and `id` are bound to it.
    public let sealed: [UInt8]
    public let created: Instant
    /// `nil` while this key signs. Afterwards the instant until which it still verifies.
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

/// Where signing keys live, shared by all servers on one database.
public protocol SigningKeyStore: Sendable {
    /// All keys, signing and retired, newest first within a use.
    func keys() async throws -> [SealedKey]

    /// Adds `key` as the signing key of its use, if that use has none. Of several servers that
    /// start together exactly one gives `true`; the others then read the winner's.
    func insertFirst(_ key: SealedKey) async throws -> Bool

    /// Makes `key` the signing key of its use and retires the one before: it verifies until
    /// `retiring`. Atomic.
    func rotate(to key: SealedKey, retiring: Instant, recording event: AuditEvent) async throws

    /// Removes keys that no longer verify at `instant`.
    /// - Returns: how many went.
    func removeRetired(before instant: Instant) async throws -> Int
}
