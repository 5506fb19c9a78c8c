internal import COpenSSL

/// A signature with a private and a public key, by its name in a JWS header.
public enum SignatureAlgorithm: String, CaseIterable, Sendable {
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    case rs256 = "RS256"
    /// ECDSA on the curve P-256 with SHA-256 (RFC 7518 §3.4).
    case es256 = "ES256"
    /// Ed25519 (RFC 8037 §3.1). The name stands for two curves; the other one is not used.
    case edDSA = "EdDSA"

    /// Whether a signature takes so long that it would delay the other connections of a loop. One
    /// by RSA takes 0.25 ms or more, one of the others about 0.03 ms.
    public var isSlow: Bool { self == .rs256 }

    /// The hash of the message; Ed25519 has its own.
    var hash: ForeignHandle? { self == .edDSA ? nil : SHA256.algorithm }

    /// A context that is ready to sign or to verify with `key`, and keeps the key. It is copied for
    /// each message: OpenSSL finds the algorithms by their names under locks that all threads
    /// share, forty times for one signature.
    /// - Parameter begin: `EVP_DigestSignInit` or `EVP_DigestVerifyInit`.
    func context(
        of key: OpaquePointer,
        _ begin: (
            OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, OpaquePointer?, OpaquePointer?,
            OpaquePointer?
        ) -> Int32
    ) throws(CryptographyError) -> ForeignHandle {
        guard let context = EVP_MD_CTX_new() else {
            throw ErrorQueue.drain(after: "preparing a signature")
        }
        guard begin(context, nil, hash?.pointer, nil, key) == 1 else {
            EVP_MD_CTX_free(context)
            throw ErrorQueue.drain(after: "preparing a signature")
        }
        return ForeignHandle(context)
    }

    /// The algorithm that `key` is for, if the key is accepted: RSA by ``RSAKeySize``, elliptic
    /// curves P-256 and Ed25519 only. An RSA-PSS key is not one for RS256.
    init(of key: OpaquePointer) throws(CryptographyError) {
        if EVP_PKEY_is_a(key, "RSA") == 1 {
            try RSAKeySize.check(key)
            self = .rs256
        } else if EVP_PKEY_is_a(key, "ED25519") == 1 {
            self = .edDSA
        } else if EVP_PKEY_is_a(key, "EC") == 1, P256.isCurve(of: key) {
            self = .es256
        } else {
            throw .malformedKey
        }
    }
}

/// The curve of ES256.
enum P256 {
    static let name = "prime256v1"
    /// A coordinate, and each of the two numbers of a signature.
    static let numberBytes = 32
    /// The SubjectPublicKeyInfo before the two coordinates of an uncompressed point (RFC 5480 §2).
    static let publicKeyPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    static func isCurve(of key: OpaquePointer) -> Bool {
        var found = [CChar](repeating: 0, count: 32)
        var count = 0
        defer { ErrorQueue.clear() }
        return EVP_PKEY_get_group_name(key, &found, found.count, &count) == 1
            && name.utf8.elementsEqual(found.prefix(count).map(UInt8.init(bitPattern:)))
    }

    /// The two numbers, big-endian with leading zeros, as a JWS has them (RFC 7518 §3.4).
    /// - Parameter der: the signature as OpenSSL makes it, an ECDSA-Sig-Value (RFC 3279 §2.2.3).
    static func numbers(_ der: [UInt8]) -> [UInt8]? {
        let signature = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &cursor, bytes.count)
        }
        defer { ECDSA_SIG_free(signature) }
        guard let signature else { return nil }
        let size = Int32(numberBytes)
        return [UInt8](unsafeUninitializedCapacity: 2 * numberBytes) { target, count in
            let isDone = target.baseAddress.map { base in
                BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, size) == size
                    && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + numberBytes, size) == size
            }
            count = isDone == true ? 2 * numberBytes : 0
        }
    }

    /// The reverse of ``numbers(_:)``.
    static func der(_ numbers: [UInt8]) -> [UInt8]? {
        guard numbers.count == 2 * numberBytes, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let size = Int32(numberBytes)
        return numbers.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress, let r = BN_bin2bn(base, size, nil) else {
                return nil
            }
            guard let s = BN_bin2bn(base + numberBytes, size, nil) else {
                BN_free(r)
                return nil
            }
            // The signature owns both numbers from here on.
            guard ECDSA_SIG_set0(signature, r, s) == 1 else { return nil }
            return DER.bytes { i2d_ECDSA_SIG(signature, $0) }
        }
    }
}
