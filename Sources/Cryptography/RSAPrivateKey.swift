internal import COpenSSL

/// An RSA key that signs by RSASSA-PKCS1-v1_5 with SHA-256: RS256 of RFC 7518 §3.3.
///
/// Several threads can use one key without a lock: OpenSSL allows an `EVP_PKEY` to be shared for
/// signing, and every signature has a context of its own. A signature takes a few tenths of a
/// millisecond, so sign on a worker pool; `generate` takes a few tenths of a second.
public final class RSAPrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
    public let publicKey: RSAPublicKey

    private let key: ForeignHandle

    public static func generate(bits: Int = 2048) throws(CryptographyError) -> RSAPrivateKey {
        guard RSAKeySize.accepted.contains(bits) else { throw .unacceptableKeySize(bits: bits) }
        let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1,
            EVP_PKEY_generate(context, &made) == 1, let made
        else { throw ErrorQueue.drain(after: "RSA key generation") }
        return try RSAPrivateKey(owning: made)
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
            try RSAKeySize.check(made)
            publicKey = try RSAPublicKey(publicPartOf: made)
        } catch {
            EVP_PKEY_free(made)
            throw error
        }
    }

    deinit {
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
            guard let der else { throw ErrorQueue.drain(after: "RSA key export") }
            return der
        }
    }

    /// The signature, as long as the modulus.
    public func sign(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = publicKey.modulus.count
        var signature = [UInt8](repeating: 0, count: count)
        let isDone = key.withPointer(keeping: self) { key in
            EVP_DigestSignInit(context, nil, SHA256.algorithm.pointer, nil, key) == 1
                && EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        }
        guard isDone, count == signature.count else {
            throw ErrorQueue.drain(after: "RSA signature")
        }
        return signature
    }

    public var description: String { "RSAPrivateKey(<redacted>)" }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
