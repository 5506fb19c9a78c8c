internal import COpenSSL

/// Why an operation with a key or a cost function was refused.
public enum CryptographyError: Error, Sendable, Equatable {
    /// The bytes or the text are not a key of the expected kind.
    case malformedKey
    /// An RSA key outside `RSAKeySize.accepted`.
    case unacceptableKeySize(bits: Int)
    /// A sealed box is truncated, was changed, or belongs to another key or binding.
    case authenticationFailed
    /// A cost or length outside its bounds; the text names it.
    case parameterOutOfBounds(String)
    /// The library failed where no input can make it fail, mostly for want of memory.
    case libraryFailure(operation: String, code: UInt)
}

/// OpenSSL keeps a queue of errors per thread. Whatever a call leaves there would be read as the
/// cause of a later failure on that thread, a TLS read's for example, so each failure empties it.
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
