internal import Cryptography

/// The values that bind a sign-in to the browser that began it. All follow from one secret, which
/// only that browser and this server know, so this server need not store any of them.
public struct SignInSecrets: Equatable, Sendable {
    /// The browser brings it back from the provider (RFC 6749 §10.12).
    public let state: String
    /// The provider puts it into the ID token (OpenID Connect Core §3.1.2.1).
    public let nonce: String
    /// Shows the provider that this server began the sign-in (RFC 7636 §4.1).
    public let verifier: String

    /// - Parameter secret: at least 32 random bytes.
    public init(secret: [UInt8]) {
        let key = HMACKey(secret: secret)
        func value(_ purpose: String) -> String {
            Base64URL.encode(key.authenticate(Array(purpose.utf8)))
        }
        state = value("state")
        nonce = value("nonce")
        verifier = value("verifier")
    }

    var challenge: String { Self.challenge(of: verifier) }

    /// RFC 7636 §4.2, `S256`.
    static func challenge(of verifier: String) -> String {
        Base64URL.encode(SHA256.digest(Array(verifier.utf8)))
    }
}
