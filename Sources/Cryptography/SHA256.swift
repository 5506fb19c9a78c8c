internal import COpenSSL

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
    static let digestBytes = 32

    /// Fetched once and never freed, because finding the algorithm by its name takes longer than
    /// hashing a token.
    static let algorithm: ForeignHandle = {
        guard let found = EVP_MD_fetch(nil, "SHA256", nil) else {
            preconditionFailure("this OpenSSL has no SHA-256")
        }
        return ForeignHandle(found)
    }()

    public static func digest(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestBytes) { target, count in
            let done = EVP_Digest(
                bytes, bytes.count, target.baseAddress, nil, algorithm.pointer, nil)
            precondition(done == 1, "SHA-256 fails only without memory")
            count = digestBytes
        }
    }
}
