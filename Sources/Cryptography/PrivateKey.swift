internal import COpenSSL

/// A private key that signs by one algorithm: RSA, elliptic curve P-256 or Ed25519.
///
/// Several threads can use one key without a lock: OpenSSL allows an `EVP_PKEY` to be shared for
/// signing, and every signature has a context of its own. An RSA key signs in a few tenths of a
/// millisecond (``SignatureAlgorithm/isSlow``) and is made in a few tenths of a second; the others
/// take less than a tenth of a millisecond for either.
public final class PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
    public let publicKey: PublicKey

    private let key: ForeignHandle
    /// A context that is ready to sign. Each signature copies it and never changes it, because
    /// preparing a context takes a tenth of the time of an ES256 signature.
    private let prepared: ForeignHandle

    public var algorithm: SignatureAlgorithm { publicKey.algorithm }

    /// RSA keys have 2,048 bits.
    public static func generate(
        _ algorithm: SignatureAlgorithm
    ) throws(CryptographyError) -> PrivateKey {
        switch algorithm {
        case .rs256: try generateRSA(bits: 2048)
        case .es256: try generate("EC") { EVP_PKEY_CTX_set_group_name($0, P256.name) == 1 }
        case .edDSA: try generate("ED25519") { _ in true }
        }
    }

    static func generateRSA(bits: Int) throws(CryptographyError) -> PrivateKey {
        guard RSAKeySize.accepted.contains(bits) else { throw .unacceptableKeySize(bits: bits) }
        return try generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(bits)) == 1 }
    }

    private static func generate(
        _ name: String, set: (OpaquePointer?) -> Bool
    ) throws(CryptographyError) -> PrivateKey {
        let context = EVP_PKEY_CTX_new_from_name(nil, name, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, set(context),
            EVP_PKEY_generate(context, &made) == 1, let made
        else { throw ErrorQueue.drain(after: "\(name) key generation") }
        return try PrivateKey(owning: made)
    }

    /// Reads a PKCS #8 PrivateKeyInfo (RFC 5208), unencrypted DER, with no bytes after it.
    public convenience init(pkcs8DER: [UInt8]) throws(CryptographyError) {
        var made: OpaquePointer?
        pkcs8DER.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, bytes.count) else { return }
            defer { PKCS8_PRIV_KEY_INFO_free(info) }
            let end = bytes.baseAddress.map { $0 + bytes.count }
            if cursor == end { made = EVP_PKCS82PKEY(info) }
        }
        ErrorQueue.clear()
        guard let made else { throw .malformedKey }
        try self.init(owning: made)
    }

    private init(owning made: OpaquePointer) throws(CryptographyError) {
        key = ForeignHandle(made)
        do throws(CryptographyError) {
            publicKey = try PublicKey(publicPartOf: made)
            prepared = try publicKey.algorithm.context(of: made, EVP_DigestSignInit)
        } catch {
            EVP_PKEY_free(made)
            throw error
        }
    }

    deinit {
        EVP_MD_CTX_free(prepared.pointer)
        EVP_PKEY_free(key.pointer)
    }

    /// The whole key, unencrypted, as `init(pkcs8DER:)` reads it. Encrypt it before storing it.
    public var pkcs8DER: [UInt8] {
        get throws(CryptographyError) {
            let der = key.withPointer(keeping: self) { key in
                let info = EVP_PKEY2PKCS8(key)
                defer { PKCS8_PRIV_KEY_INFO_free(info) }
                return DER.bytes { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
            }
            guard let der else { throw ErrorQueue.drain(after: "private key export") }
            return der
        }
    }

    /// The signature as a JWS has it: for RSA as long as the modulus, otherwise 64 bytes.
    public func sign(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = publicKey.greatestSignatureBytes
        let made = [UInt8](unsafeUninitializedCapacity: count) { target, written in
            let isDone = prepared.withPointer(keeping: self) { prepared in
                EVP_MD_CTX_copy_ex(context, prepared) == 1
                    && EVP_DigestSign(
                        context, target.baseAddress, &count, message, message.count) == 1
            }
            written = isDone ? count : 0
        }
        let signature = algorithm == .es256 ? P256.numbers(made) : made
        guard let signature, !signature.isEmpty else {
            throw ErrorQueue.drain(after: "\(algorithm.rawValue) signature")
        }
        return signature
    }

    public var description: String { "PrivateKey(<redacted>)" }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
