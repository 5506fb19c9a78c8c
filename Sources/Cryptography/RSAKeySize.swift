internal import COpenSSL

/// Which RSA keys are taken.
enum RSAKeySize {
    /// RFC 7518 §3.3 demands 2048 bits at least. The upper end bounds what a verification may cost.
    static let accepted = 2048...8192

    /// Refuses other algorithms (RSA-PSS keys too: RS256 is not for them), sizes outside `accepted`
    /// and exponents with which RSA is no signature at all.
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
