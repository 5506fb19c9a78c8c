import Cryptography

@testable import WebAuthn

private let site = RelyingParty(id: "example.org", origin: "https://example.org")

/// The challenge and the client data with which the seeds' attestation objects are registered.
private let challenge = [UInt8](repeating: 7, count: 32)
private let clientData =
    Array(
        #"{"type":"webauthn.create","challenge":"\#(Base64URL.encode(challenge))","#.utf8)
    + Array(#""origin":"https://example.org"}"#.utf8)

/// The first byte says what the rest is: CBOR, authenticator data, an attestation object or client
/// data.
func checkPasskey(_ input: [UInt8]) {
    guard let kind = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch kind {
    case UInt8(ascii: "c"):
        var reader = CBORReader(bytes[...])
        while (try? reader.next()) != nil {
            precondition((1...bytes.count).contains(reader.position))
        }
    case UInt8(ascii: "a"):
        guard let data = try? AuthenticatorData(bytes) else { return }
        precondition(data.flags.contains(.hasCredential) == (data.credential != nil))
        guard let credential = data.credential else { return }
        precondition((1...WebAuthnLimits.credentialID).contains(credential.id.count))
        // What is stored of the key gives the key again.
        let again = try? PublicKey(pem: credential.publicKey.pem)
        precondition(again?.parameters == credential.publicKey.parameters)
    case UInt8(ascii: "r"):
        let credential = try? RegisteredCredential(
            clientData: clientData, attestationObject: bytes, challenge: challenge, at: site)
        guard let credential else { return }
        precondition(!credential.publicKey.isValid(x509: bytes, for: clientData))
    default:
        guard let data = try? ClientData(bytes) else { return }
        try? data.check(for: .assertion, challenge: challenge, at: site)
    }
}
