internal import COpenSSL

/// A secret for HMAC-SHA256 (RFC 2104, RFC 4231), which is HS256 over a JWT's signing input
/// (RFC 7518 §3.2).
///
/// The key schedule is computed once. Each call copies the prepared state and never changes it, so
/// several threads can use one key without a lock. The state is wiped when the key is freed.
public final class HMACKey: Sendable, CustomStringConvertible, CustomReflectable {
    public static let macBytes = 32

    private let prepared: ForeignHandle

    public init(secret: [UInt8]) {
        // RFC 2104 §2 pads the secret with zeros, so a zero byte and no byte are the same key.
        // OpenSSL treats an empty secret as a missing one.
        let secret = secret.isEmpty ? [0] : secret
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil),
            let context = EVP_MAC_CTX_new(algorithm)
        else { preconditionFailure("this OpenSSL has no HMAC") }
        EVP_MAC_free(algorithm)
        let done = OSSL_MAC_PARAM_DIGEST.withCString { name in
            var digest = Array("SHA256".utf8CString)
            return digest.withUnsafeMutableBufferPointer { value in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(name, value.baseAddress, 0),
                    OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(context, secret, secret.count, parameters)
            }
        }
        precondition(done == 1, "preparing HMAC fails only without memory")
        prepared = ForeignHandle(context)
    }

    deinit {
        EVP_MAC_CTX_free(prepared.pointer)
    }

    /// 32 bytes.
    public func authenticate(_ message: [UInt8]) -> [UInt8] {
        prepared.withPointer(keeping: self) { prepared in
            let context = EVP_MAC_CTX_dup(prepared)
            defer { EVP_MAC_CTX_free(context) }
            return [UInt8](unsafeUninitializedCapacity: Self.macBytes) { target, count in
                let done =
                    EVP_MAC_update(context, message, message.count) == 1
                    && EVP_MAC_final(context, target.baseAddress, &count, Self.macBytes) == 1
                precondition(done && count == Self.macBytes, "HMAC fails only without memory")
            }
        }
    }

    /// Compares in constant time.
    public func isValid(_ mac: [UInt8], for message: [UInt8]) -> Bool {
        ConstantTime.equal(mac, authenticate(message))
    }

    public var description: String { "HMACKey(<redacted>)" }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
