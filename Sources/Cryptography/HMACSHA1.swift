internal import COpenSSL

/// HMAC-SHA-1 (RFC 2104, RFC 2202), for the one-time passwords of RFC 4226 only, whose programs
/// know no other. The weakness of SHA-1, collisions, does not weaken them.
public enum HMACSHA1 {
    private static let macBytes = 20

    /// 20 bytes.
    public static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: macBytes) { target, count in
            let mac = EVP_Q_mac(
                nil, "HMAC", nil, "SHA1", nil, key, key.count, message, message.count,
                target.baseAddress, macBytes, &count)
            precondition(mac != nil && count == macBytes, "HMAC fails only without memory")
        }
    }
}
