internal import COpenSSL

/// The public half of a key pair, which verifies the signatures of one algorithm.
///
/// Several threads can use one key without a lock, as with `PrivateKey`.
public final class PublicKey: Sendable {
    /// The members of a JWK for the key (RFC 7518 §6, RFC 8037 §2), numbers big-endian.
    public enum Parameters: Equatable, Sendable {
        /// `n` and `e`, without leading zeros.
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// `x` and `y` of a point on P-256, 32 bytes each.
        case p256(x: [UInt8], y: [UInt8])
        /// `x`, 32 bytes.
        case ed25519(x: [UInt8])
    }

    public let algorithm: SignatureAlgorithm
    public let parameters: Parameters
    /// SubjectPublicKeyInfo as PEM, with a line feed at the end.
    public let pem: String
    /// The most bytes that OpenSSL writes for a signature. For ES256 this is not yet the form of a
    /// JWS.
    let greatestSignatureBytes: Int

    /// The state before a message, which keeps the key.
    private let prepared: ForeignHandle

    /// Reads a `PUBLIC KEY` block (RFC 7468 §13).
    public convenience init(pem: String) throws(CryptographyError) {
        guard let key = PEM.publicKey(pem) else { throw .malformedKey }
        try self.init(owning: key)
    }

    /// Makes an RSA key from its two numbers, big-endian.
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

    /// Makes a key from the numbers that a JWK or a COSE key has. A point must be on its curve.
    public convenience init(_ parameters: Parameters) throws(CryptographyError) {
        switch parameters {
        case .rsa(let modulus, let exponent):
            try self.init(modulus: modulus, exponent: exponent)
        case .p256(let x, let y):
            guard x.count == P256.numberBytes, y.count == P256.numberBytes else {
                throw .malformedKey
            }
            try self.init(der: P256.publicKeyPrefix + x + y)
        case .ed25519(let x):
            guard x.count == Parameters.ed25519Bytes else { throw .malformedKey }
            try self.init(der: Parameters.ed25519Prefix + x)
        }
    }

    /// Reads a SubjectPublicKeyInfo.
    private convenience init(der: [UInt8]) throws(CryptographyError) {
        let key = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PUBKEY(nil, &cursor, bytes.count)
        }
        ErrorQueue.clear()
        guard let key else { throw .malformedKey }
        try self.init(owning: key)
    }

    /// Copies the public half of a key pair. The caller still owns the pair.
    convenience init(publicPartOf pair: OpaquePointer) throws(CryptographyError) {
        guard let der = DER.bytes({ i2d_PUBKEY(pair, $0) }) else {
            throw ErrorQueue.drain(after: "public key export")
        }
        try self.init(der: der)
    }

    private init(owning made: OpaquePointer) throws(CryptographyError) {
        defer { EVP_PKEY_free(made) }
        algorithm = try SignatureAlgorithm(of: made)
        guard let parameters = Parameters(of: made, for: algorithm),
            let pem = PEM.text(publicKey: made)
        else { throw ErrorQueue.drain(after: "public key export") }
        (self.parameters, self.pem) = (parameters, pem)
        greatestSignatureBytes = Int(EVP_PKEY_get_size(made))
        prepared = try algorithm.context(of: made, EVP_DigestVerifyInit)
    }

    deinit {
        EVP_MD_CTX_free(prepared.pointer)
    }

    /// False for anything but a signature by this key of exactly this message. Takes any length.
    /// - Parameter signature: as a JWS has it.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let signature = algorithm == .es256 ? P256.der(signature) : signature else {
            ErrorQueue.clear()
            return false
        }
        return isValid(x509: signature, for: message)
    }

    /// The same for a signature as X.509 and WebAuthn have it, which differs for ES256 only: an
    /// ECDSA-Sig-Value in DER (RFC 3279 §2.2.3).
    public func isValid(x509 signature: [UInt8], for message: [UInt8]) -> Bool {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let isValid = prepared.withPointer(keeping: self) { prepared in
            EVP_MD_CTX_copy_ex(context, prepared) == 1
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

extension PublicKey.Parameters {
    fileprivate init?(of key: OpaquePointer, for algorithm: SignatureAlgorithm) {
        switch algorithm {
        case .rs256:
            guard let modulus = KeyNumber.bytes(OSSL_PKEY_PARAM_RSA_N, of: key),
                let exponent = KeyNumber.bytes(OSSL_PKEY_PARAM_RSA_E, of: key)
            else { return nil }
            self = .rsa(modulus: modulus, exponent: exponent)
        case .es256:
            let count = P256.numberBytes
            guard let x = KeyNumber.bytes(OSSL_PKEY_PARAM_EC_PUB_X, of: key, count: count),
                let y = KeyNumber.bytes(OSSL_PKEY_PARAM_EC_PUB_Y, of: key, count: count)
            else { return nil }
            self = .p256(x: x, y: y)
        case .edDSA:
            var count = Self.ed25519Bytes
            let x = [UInt8](unsafeUninitializedCapacity: count) { target, written in
                let isDone = EVP_PKEY_get_raw_public_key(key, target.baseAddress, &count) == 1
                written = isDone ? count : 0
            }
            guard x.count == Self.ed25519Bytes else { return nil }
            self = .ed25519(x: x)
        }
    }

    fileprivate static let ed25519Bytes = 32
    /// The SubjectPublicKeyInfo before the key itself (RFC 8410 §4).
    fileprivate static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]
}

/// Which RSA keys are accepted.
enum RSAKeySize {
    /// RFC 7518 §3.3 requires at least 2048 bits. The upper bound limits the time to verify.
    static let accepted = 2048...8192

    /// Rejects sizes outside `accepted`, and exponents that are even or 1, with which anyone can
    /// sign.
    static func check(_ key: OpaquePointer) throws(CryptographyError) {
        let bits = Int(EVP_PKEY_get_bits(key))
        guard accepted.contains(bits) else { throw .unacceptableKeySize(bits: bits) }
        guard let exponent = KeyNumber.bytes(OSSL_PKEY_PARAM_RSA_E, of: key), exponent.count <= 8,
            let last = exponent.last, last & 1 == 1, exponent != [1]
        else { throw .malformedKey }
    }
}

/// The numbers that a key consists of.
private enum KeyNumber {
    /// A number of the key, big-endian.
    /// - Parameter count: how many bytes, with leading zeros; `nil` for as many as it needs.
    static func bytes(_ name: String, of key: OpaquePointer, count: Int? = nil) -> [UInt8]? {
        var number: OpaquePointer?
        defer { BN_free(number) }
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1 else {
            ErrorQueue.clear()
            return nil
        }
        let least = (Int(BN_num_bits(number)) + 7) / 8
        let size = count ?? least
        guard least <= size else { return nil }
        return [UInt8](unsafeUninitializedCapacity: size) { target, written in
            written = max(0, Int(BN_bn2binpad(number, target.baseAddress, Int32(size))))
        }
    }
}
