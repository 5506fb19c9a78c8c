internal import COpenSSL

/// Why a certificate, its key or a file that belongs to them cannot be used.
public enum TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    case noCertificate
    /// None without a password.
    case noPrivateKey
    case otherKey
    case noOCSPResponse
    /// Not "good", or of another certificate.
    case otherOCSPResponse
    case noAuthority
    /// The text is OpenSSL's.
    case refused(String)

    public var description: String {
        switch self {
        case .noCertificate: "holds no certificate in PEM"
        case .noPrivateKey: "holds no private key in PEM that needs no password"
        case .otherKey: "is not the key of the certificate"
        case .noOCSPResponse: "is not a successful OCSP response in DER"
        case .otherOCSPResponse: "does not say that this certificate is good"
        case .noAuthority: "holds no certificate of an authority in PEM"
        case .refused(let reason): "cannot be used: \(reason)"
        }
    }

    /// The error of the OpenSSL call that has just failed.
    static var last: TLSError {
        let code = ERR_get_error()
        ERR_clear_error()
        return .refused(ERR_reason_error_string(code).map { String(cString: $0) } ?? "\(code)")
    }
}
