internal import Cryptography

/// A key that signs tokens, decrypted.
struct SigningKey: Sendable {
    enum Secret: Sendable {
        case hmac(HMACKey)
        case rsa(RSAPrivateKey)
    }

    let id: String
    let secret: Secret

    /// - Parameter bytes: from ``makeSecret(for:random:)``.
    init(id: String, use: KeyUse, bytes: [UInt8]) throws {
        self.id = id
        switch use {
        case .agent, .accounts: secret = .hmac(HMACKey(secret: bytes))
        case .capability, .login: secret = .rsa(try RSAPrivateKey(pkcs8DER: bytes))
        }
    }

    /// Generates a key of this use: 32 random bytes for HMAC, PKCS #8 DER for RSA.
    ///
    /// RSA is slow (0.1 to 1 s), so it runs on a pool only.
    static func makeSecret(
        for use: KeyUse, random: @Sendable (Int) -> [UInt8]
    ) throws -> SecretBytes {
        var bytes =
            switch use {
            case .agent, .accounts: random(32)
            case .capability, .login: try RSAPrivateKey.generate(bits: 2048).pkcs8DER
            }
        // Not returned as an array: the pool's thread may hold a reference to its result when the
        // caller overwrites it, and the bytes would stay in memory.
        defer { bytes.wipe() }
        return SecretBytes(bytes)
    }

    var verification: VerificationKey.Material {
        switch secret {
        case .hmac(let key): .hmac(key)
        case .rsa(let key): .rsa(key.publicKey)
        }
    }
}

/// A key that verifies tokens: that of the signing key, or of a retired key until its tokens have
/// expired.
struct VerificationKey: Sendable {
    enum Material: Sendable {
        case hmac(HMACKey)
        case rsa(RSAPublicKey)
    }

    let id: String
    let material: Material
    let retired: Instant?

    func verifies(at now: Instant) -> Bool {
        retired.map { now < $0 } ?? true
    }

    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        switch material {
        case .hmac(let key): key.isValid(signature, for: message)
        case .rsa(let key): key.isValid(signature, for: message)
        }
    }
}

/// A public key as a mail store reads it from the key set (RFC 7517 §4, RFC 7518 §6.3.1).
public struct PublishedKey: Equatable, Sendable {
    public let id: String
    /// Base64url of the modulus, without leading zeros.
    public let modulus: String
    /// Base64url of the exponent.
    public let exponent: String
    /// SubjectPublicKeyInfo as PEM (RFC 7468 §13).
    public let pem: String
}
