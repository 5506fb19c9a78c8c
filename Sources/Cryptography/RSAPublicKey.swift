internal import COpenSSL

/// The public half of an RSA key, which verifies RS256 signatures (RFC 7518 §3.3).
///
/// Several threads can use one key without a lock, as with `RSAPrivateKey`.
public final class RSAPublicKey: Sendable {
    /// Big-endian without leading zeros, as a JWK's `n` and `e` have them (RFC 7518 §6.3.1).
    public let modulus: [UInt8]
    public let exponent: [UInt8]
    /// SubjectPublicKeyInfo as PEM, with a line feed at the end.
    public let pem: String

    private let key: ForeignHandle

    /// Reads a `PUBLIC KEY` block (RFC 7468 §13).
    public convenience init(pem: String) throws(CryptographyError) {
        guard let key = PEM.publicKey(pem) else { throw .malformedKey }
        try self.init(owning: key)
    }

    /// Makes a key from its two numbers, big-endian.
    public convenience init(modulus: [UInt8], exponent: [UInt8]) throws(CryptographyError) {
        let bits = modulus.count * 8
        guard bits <= RSAKeySize.accepted.upperBound else {
            throw .unacceptableKeySize(bits: bits)
        }
        guard exponent.count <= 8, let key = Self.key(modulus, exponent) else {
            throw .malformedKey
        }
        try self.init(owning: key)
    }

    /// Copies the public half of a key pair. The caller still owns the pair.
    convenience init(publicPartOf pair: OpaquePointer) throws(CryptographyError) {
        guard let der = DER.bytes({ i2d_PUBKEY(pair, $0) }) else {
            throw ErrorQueue.drain(after: "RSA public key export")
        }
        let copy = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PUBKEY(nil, &cursor, bytes.count)
        }
        guard let copy else { throw ErrorQueue.drain(after: "RSA public key import") }
        try self.init(owning: copy)
    }

    private init(owning made: OpaquePointer) throws(CryptographyError) {
        key = ForeignHandle(made)
        do throws(CryptographyError) {
            try RSAKeySize.check(made)
            guard let modulus = RSAKeySize.number(OSSL_PKEY_PARAM_RSA_N, of: made),
                let exponent = RSAKeySize.number(OSSL_PKEY_PARAM_RSA_E, of: made),
                let pem = PEM.text(publicKey: made)
            else { throw ErrorQueue.drain(after: "RSA public key export") }
            (self.modulus, self.exponent, self.pem) = (modulus, exponent, pem)
        } catch {
            EVP_PKEY_free(made)
            throw error
        }
    }

    deinit {
        EVP_PKEY_free(key.pointer)
    }

    /// False for anything but a signature by this key of exactly this message. Takes any length.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let isValid = key.withPointer(keeping: self) { key in
            EVP_DigestVerifyInit(context, nil, SHA256.algorithm.pointer, nil, key) == 1
                && EVP_DigestVerify(
                    context, signature, signature.count, message, message.count) == 1
        }
        if !isValid { ErrorQueue.clear() }
        return isValid
    }

    private static func key(_ modulus: [UInt8], _ exponent: [UInt8]) -> OpaquePointer? {
        let builder = OSSL_PARAM_BLD_new()
        let n = BN_bin2bn(modulus, Int32(modulus.count), nil)
        let e = BN_bin2bn(exponent, Int32(exponent.count), nil)
        let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
        defer {
            EVP_PKEY_CTX_free(context)
            BN_free(e)
            BN_free(n)
            OSSL_PARAM_BLD_free(builder)
            ErrorQueue.clear()
        }
        return OSSL_PKEY_PARAM_RSA_N.withCString { nameOfN in
            OSSL_PKEY_PARAM_RSA_E.withCString { nameOfE in
                guard OSSL_PARAM_BLD_push_BN(builder, nameOfN, n) == 1,
                    OSSL_PARAM_BLD_push_BN(builder, nameOfE, e) == 1,
                    let parameters = OSSL_PARAM_BLD_to_param(builder)
                else { return nil }
                defer { OSSL_PARAM_free(parameters) }
                var key: OpaquePointer?
                guard EVP_PKEY_fromdata_init(context) == 1,
                    EVP_PKEY_fromdata(context, &key, postern_public_key_selection(), parameters)
                        == 1
                else { return nil }
                return key
            }
        }
    }
}

/// Which RSA keys are accepted.
enum RSAKeySize {
    /// RFC 7518 §3.3 requires at least 2048 bits. The upper bound limits the time to verify.
    static let accepted = 2048...8192

    /// Rejects other algorithms (also RSA-PSS keys, which RS256 does not use), sizes outside
    /// `accepted`, and exponents that are even or 1, with which anyone can sign.
    static func check(_ key: OpaquePointer) throws(CryptographyError) {
        guard EVP_PKEY_is_a(key, "RSA") == 1 else { throw .malformedKey }
        let bits = Int(EVP_PKEY_get_bits(key))
        guard accepted.contains(bits) else { throw .unacceptableKeySize(bits: bits) }
        guard let exponent = number(OSSL_PKEY_PARAM_RSA_E, of: key), exponent.count <= 8,
            let last = exponent.last, last & 1 == 1, exponent != [1]
        else { throw .malformedKey }
    }

    /// A number of the key, big-endian without leading zeros.
    static func number(_ name: String, of key: OpaquePointer) -> [UInt8]? {
        var number: OpaquePointer?
        defer { BN_free(number) }
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1 else {
            ErrorQueue.clear()
            return nil
        }
        let count = (Int(BN_num_bits(number)) + 7) / 8
        return [UInt8](unsafeUninitializedCapacity: count) { target, written in
            written = Int(BN_bn2bin(number, target.baseAddress))
        }
    }
}
