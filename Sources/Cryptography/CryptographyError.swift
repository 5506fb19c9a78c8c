internal import COpenSSL

/// Why an operation with a key or a cost function failed.
public enum CryptographyError: Error, Sendable, Equatable {
    /// The bytes or the text are not a key of the expected kind.
    case malformedKey
    /// An RSA key outside `RSAKeySize.accepted`.
    case unacceptableKeySize(bits: Int)
    /// A sealed box is truncated, was changed, or belongs to another key or binding.
    case authenticationFailed
    /// A cost or length outside its bounds; the text names it.
    case parameterOutOfBounds(String)
    /// The library failed for a reason that is not in the input, mostly missing memory.
    case libraryFailure(operation: String, code: UInt)
}

/// OpenSSL's queue of errors, one per thread. Every failure here empties it. Otherwise an old error
/// would look like the cause of a later failure on the same thread, such as that of a TLS read.
enum ErrorQueue {
    static func drain(after operation: String) -> CryptographyError {
        let code = ERR_get_error()
        ERR_clear_error()
        return .libraryFailure(operation: operation, code: code)
    }

    static func clear() {
        ERR_clear_error()
    }
}
