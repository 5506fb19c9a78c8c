// WebAuthn: verifies what an authenticator and a browser send when a passkey is registered or used
// (Web Authentication Level 2, §7).
//
// Owns: a reader of CBOR and of COSE keys, the authenticator data, the client data, and the
// verification of both ceremonies. Works on bytes. Never knows a user, a request or a store, and
// has no clock and no random numbers: the caller makes challenges, spends each once, and compares
// signature counters. Does not trap on any input.

/// Why a registration or an assertion is refused. For the log and for tests; clients need not know.
public enum WebAuthnError: Error, Equatable, Sendable {
    /// The named part has another form than the specification gives it, or is longer than allowed.
    case malformed(String)
    /// `type` of the client data is that of the other ceremony.
    case wrongType
    case wrongChallenge
    /// The browser was at another origin.
    case wrongOrigin
    /// The browser was in a frame of another origin's page.
    case crossOrigin
    /// The authenticator acted for another relying party.
    case wrongRelyingParty
    /// The user did not touch the authenticator.
    case userAbsent
    /// The key is of an algorithm that was not asked for, or is weak.
    case unacceptableKey
    /// The signature is not one by the credential's key.
    case wrongSignature
}

/// The greatest lengths of what is read, in bytes.
enum WebAuthnLimits {
    static let clientData = 4_096
    /// Statements of TPMs have several certificates.
    static let attestationObject = 32_768
    static let authenticatorData = 8_192
    /// §4, credential ID.
    static let credentialID = 1_023
    /// That of an RSA key with 8,192 bits.
    static let signature = 1_024
}

/// The server as browsers and authenticators know it.
public struct RelyingParty: Equatable, Sendable {
    /// The host name of the server's pages.
    public let id: String
    /// The origin of the server's pages, as browsers write it (RFC 6454 §6.2).
    public let origin: String

    public init(id: String, origin: String) {
        self.id = id
        self.origin = origin
    }
}
