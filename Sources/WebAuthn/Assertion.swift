public import Cryptography

/// The use of a credential, verified (Web Authentication §7.2).
///
/// The caller has found the credential by its id, and its user by the credential; it spends the
/// challenge, and compares ``signatureCount`` with the stored one.
public struct VerifiedAssertion: Equatable, Sendable {
    /// One that does not rise is a sign of a copied authenticator (§7.2 step 21). Authenticators
    /// that do not count always send 0.
    public let signatureCount: UInt32
    /// Whether the user proved to the authenticator who they are, by a PIN or a biometric.
    public let isUserVerified: Bool

    /// Verifies what a browser sends after `navigator.credentials.get()`.
    /// - Parameters:
    ///   - clientData: `clientDataJSON`.
    ///   - challenge: the caller's, of at least 16 random bytes.
    ///   - key: of the credential.
    public init(
        clientData: [UInt8], authenticatorData: [UInt8], signature: [UInt8], challenge: [UInt8],
        by key: PublicKey, at relyingParty: RelyingParty
    ) throws(WebAuthnError) {
        try ClientData(clientData).check(for: .assertion, challenge: challenge, at: relyingParty)
        let data = try AuthenticatorData(authenticatorData)
        try data.check(for: relyingParty)
        guard signature.count <= WebAuthnLimits.signature else { throw .malformed("signature") }
        guard key.isValid(x509: signature, for: authenticatorData + SHA256.digest(clientData))
        else { throw .wrongSignature }
        signatureCount = data.signatureCount
        isUserVerified = data.flags.contains(.userVerified)
    }
}
