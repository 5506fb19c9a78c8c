// IdentityProviders: finds out who somebody is at a server of OpenID Connect (Core 1.0, Discovery
// 1.0) or at GitHub, by the authorization code flow (RFC 6749 §4.1) with PKCE (RFC 7636).
//
// Owns: the documents of a provider (metadata, key set, token response, user), the verification of
// ID tokens, and the order of requests. Works on bytes. Never knows a user of this server, a
// session or a store, and opens no connection itself: the caller sends the requests. Does not trap
// on any input.

/// Why a sign-in does not say who it is. The texts are for the operator's log and contain no secret
/// and no text from the provider but error codes (RFC 6749 §5.2).
public enum ProviderError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The provider cannot be reached, or does not answer in time, or says that it is out of order.
    case unavailable(String)
    /// The provider, or who pretends to be it, sent what it must not.
    case invalid(String)
    /// The provider says that the user, or the provider itself, does not want the sign-in.
    case denied(code: String)

    public var description: String {
        switch self {
        case .unavailable(let cause): cause
        case .invalid(let cause): cause
        case .denied(let code): "the provider answered \(code)"
        }
    }
}

/// The greatest lengths of what is read, in bytes.
public enum ProviderLimits {
    /// Metadata of large providers has about 5 KiB.
    public static let metadata = 65_536
    /// Key sets with certificates have about 20 KiB.
    public static let keySet = 131_072
    public static let keys = 64
    /// Token responses have an ID token and an access token, which may be a JWT, too.
    public static let tokenResponse = 65_536
    public static let idToken = 16_384
    public static let userInfo = 65_536
    /// OpenID Connect Core §2, `sub`.
    public static let subject = 255
    /// The code and the state that a browser brings.
    public static let callbackField = 4_096
}

/// Who somebody is at a provider.
public struct ProviderIdentity: Equatable, Sendable {
    /// 1 to ``ProviderLimits/subject`` visible ASCII characters.
    public let subject: String
    /// As the provider wrote it; it may be anything.
    public let email: String?
    /// Whether the provider says that the email belongs to the user.
    public let isEmailVerified: Bool

    public init(subject: String, email: String?, isEmailVerified: Bool) {
        self.subject = subject
        self.email = email
        self.isEmailVerified = isEmailVerified
    }
}
