internal import Cryptography

/// Encrypts signing keys for the database: AES-256-GCM under a key derived from the master secret.
///
/// The id and the use of the signing key are authenticated with it, so that a row of the database
/// cannot replace another.
public struct KeySealer: Sendable {
    private let cipher: AES256GCM
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - masterSecret: 32 bytes.
    ///   - random: returns that many random bytes.
    public init(masterSecret: [UInt8], random: @escaping @Sendable (Int) -> [UInt8]) throws {
        precondition(masterSecret.count == 32)
        // One derived key for each purpose, so that the master secret can have other uses later.
        var derived = HMACKey(secret: masterSecret).authenticate(Array("signing-key/1".utf8))
        defer { derived.wipe() }
        cipher = try AES256GCM(key: derived)
        self.random = random
    }

    func seal(_ key: [UInt8], id: String, use: KeyUse) throws -> [UInt8] {
        try cipher.seal(
            key, binding: Self.binding(id: id, use: use), nonce: random(AES256GCM.nonceBytes))
    }

    func open(_ key: SealedKey) throws -> [UInt8] {
        do {
            return try cipher.open(key.sealed, binding: Self.binding(id: key.id, use: key.use))
        } catch {
            throw UnreadableKey(id: key.id)
        }
    }

    func seal(_ bytes: [UInt8], as secret: SealedSecret) throws -> [UInt8] {
        try cipher.seal(
            bytes, binding: Array(secret.name.utf8), nonce: random(AES256GCM.nonceBytes))
    }

    func open(_ sealed: [UInt8], as secret: SealedSecret) throws -> [UInt8] {
        do {
            return try cipher.open(sealed, binding: Array(secret.name.utf8))
        } catch {
            throw UnreadableKey(id: secret.name)
        }
    }

    /// - Returns: the ids of the keys that it does not open, or that are no keys.
    public func unreadable(among keys: [SealedKey]) -> [String] {
        keys.filter { key in
            do {
                _ = try algorithm(of: key)
                return false
            } catch {
                return true
            }
        }.map(\.id)
    }

    /// - Returns: `alg` of the tokens that the key signs.
    /// - Throws: ``UnreadableKey`` when it does not open the key, and an error when it is no key.
    public func algorithm(of key: SealedKey) throws -> String {
        var bytes = try open(key)
        defer { bytes.wipe() }
        return try SigningKey(id: key.id, use: key.use, bytes: bytes).algorithm
    }

    /// Encrypts every stored key, and every ``SealedSecret``, under another master secret: all or
    /// none.
    /// - Parameter old: the sealer of the present secret.
    /// - Returns: how many keys there are.
    /// - Throws: ``UnreadableKey`` when `old` has not sealed them.
    public func resealAll(
        in store: any SigningKeyStore, from old: KeySealer, at now: Instant
    ) async throws -> Int {
        let event = AuditEvent(
            .keysResealed, time: now, actor: .operator, subject: "signing keys")
        return try await store.reseal(
            recording: event,
            secrets: { secret, sealed in
                var bytes = try old.open(sealed, as: secret)
                defer { bytes.wipe() }
                return try seal(bytes, as: secret)
            },
            { key in
                var bytes = try old.open(key)
                defer { bytes.wipe() }
                return try seal(bytes, id: key.id, use: key.use)
            })
    }

    private static func binding(id: String, use: KeyUse) -> [UInt8] {
        Array("\(use.rawValue)/\(id)".utf8)
    }
}

/// A stored signing key that cannot be decrypted with this master secret.
public struct UnreadableKey: Error, CustomStringConvertible {
    public let id: String

    public var description: String {
        "signing key \(id) cannot be opened: the master secret is not the one it was sealed with"
    }
}
