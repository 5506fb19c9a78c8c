public import Cryptography

/// A key that signs tokens, decrypted.
struct SigningKey: Sendable {
    enum Secret: Sendable {
        case hmac(HMACKey)
        case keyPair(PrivateKey)
    }

    let id: String
    let secret: Secret

    /// - Parameter bytes: from ``makeSecret(for:algorithm:random:keyPair:)``.
    /// - Throws: also for a key whose algorithm tokens of this use cannot have.
    init(id: String, use: KeyUse, bytes: [UInt8]) throws {
        self.id = id
        switch use {
        case .agent, .accounts: secret = .hmac(HMACKey(secret: bytes))
        case .capability, .login: secret = .keyPair(try PrivateKey(pkcs8DER: bytes))
        }
        guard use.algorithms.contains(algorithm) else { throw CryptographyError.malformedKey }
    }

    /// Generates a key of this use: 32 random bytes for HMAC, otherwise PKCS #8 DER, which names
    /// the algorithm.
    ///
    /// RSA is slow (0.1 to 1 s), so it runs on a pool only.
    /// - Parameters:
    ///   - algorithm: of a key pair.
    ///   - keyPair: generates one.
    static func makeSecret(
        for use: KeyUse, algorithm: SignatureAlgorithm, random: @Sendable (Int) -> [UInt8],
        keyPair: @Sendable (SignatureAlgorithm) throws -> PrivateKey
    ) throws -> SecretBytes {
        var bytes =
            switch use {
            case .agent, .accounts: random(32)
            case .capability, .login: try keyPair(algorithm).pkcs8DER
            }
        // Not returned as an array. The pool's thread may hold a reference to its result when the
        // caller overwrites it, and the bytes would then stay in memory.
        defer { bytes.wipe() }
        return SecretBytes(bytes)
    }

    /// `alg` of the tokens that it signs.
    var algorithm: String {
        switch secret {
        case .hmac: KeyUse.hmacAlgorithm
        case .keyPair(let pair): pair.algorithm.rawValue
        }
    }

    var verification: VerificationKey.Material {
        switch secret {
        case .hmac(let key): .hmac(key)
        case .keyPair(let pair): .publicKey(pair.publicKey)
        }
    }
}

extension KeyUse {
    /// HS256 (RFC 7518 §3.2).
    static let hmacAlgorithm = "HS256"

    /// The values of `alg` that tokens of this use may have. The key decides which of them, never
    /// the token.
    var algorithms: [String] {
        switch self {
        case .agent, .accounts: [Self.hmacAlgorithm]
        case .capability: SignatureAlgorithm.allCases.map(\.rawValue)
        case .login: [SignatureAlgorithm.rs256.rawValue]
        }
    }
}

/// A key that verifies tokens: the signing key's, or a retired key's until its tokens have expired.
struct VerificationKey: Sendable {
    enum Material: Sendable {
        case hmac(HMACKey)
        case publicKey(PublicKey)
    }

    let id: String
    let material: Material
    let retired: Instant?

    /// `alg` of the tokens that it verifies.
    var algorithm: String {
        switch material {
        case .hmac: KeyUse.hmacAlgorithm
        case .publicKey(let key): key.algorithm.rawValue
        }
    }

    func verifies(at now: Instant) -> Bool {
        retired.map { now < $0 } ?? true
    }

    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        switch material {
        case .hmac(let key): key.isValid(signature, for: message)
        case .publicKey(let key): key.isValid(signature, for: message)
        }
    }
}

/// A public key as a mail store reads it from the key set (RFC 7517 §4) or from a file.
public struct PublishedKey: Equatable, Sendable {
    public let id: String
    public let algorithm: SignatureAlgorithm
    public let parameters: PublicKey.Parameters
    /// SubjectPublicKeyInfo as PEM (RFC 7468 §13).
    public let pem: String
}
