public import Cryptography

/// A new credential, verified (Web Authentication §7.1).
public struct RegisteredCredential: Sendable {
    /// Chosen by the authenticator, 1 to 1,023 bytes.
    public let id: [UInt8]
    public let publicKey: PublicKey
    /// 0 for an authenticator that does not count.
    public let signatureCount: UInt32
    /// The AAGUID: the model of the authenticator, 16 bytes; zeros unless it says.
    public let model: [UInt8]
    /// Whether the user proved to the authenticator who they are, by a PIN or a biometric.
    public let isUserVerified: Bool
    /// Whether the credential is on several devices, or can be.
    public let isBackupEligible: Bool

    /// Verifies what a browser sends after `navigator.credentials.create()`.
    ///
    /// The caller asks for the attestation `none`, and trusts no authenticator more than another.
    /// Browsers then leave the statement out, or leave one that the credential's own key has
    /// signed, which is verified. A statement of another kind is not read.
    /// - Parameters:
    ///   - clientData: `clientDataJSON`.
    ///   - challenge: the caller's, of at least 16 random bytes.
    public init(
        clientData: [UInt8], attestationObject: [UInt8], challenge: [UInt8],
        at relyingParty: RelyingParty
    ) throws(WebAuthnError) {
        try ClientData(clientData).check(
            for: .registration, challenge: challenge, at: relyingParty)
        let malformed = WebAuthnError.malformed("attestation object")
        guard attestationObject.count <= WebAuthnLimits.attestationObject,
            case .map(let members)? = try? CBORReader.value(of: attestationObject),
            case .bytes(let dataBytes)? = members["authData"],
            case .text(let format)? = members["fmt"],
            // §8.1: the longest identifier of a format.
            format.utf8.count <= 32,
            case .map(let statement)? = members["attStmt"]
        else { throw malformed }
        let data = try AuthenticatorData(dataBytes)
        try data.check(for: relyingParty)
        guard let credential = data.credential else { throw malformed }
        switch format {
        case "none":
            guard statement.count == 0 else { throw malformed }
        case "packed" where statement["x5c"] == nil:
            try Self.checkSelfAttestation(
                statement, by: credential.publicKey,
                over: dataBytes + SHA256.digest(clientData))
        default: break
        }
        id = credential.id
        publicKey = credential.publicKey
        signatureCount = data.signatureCount
        model = credential.model
        isUserVerified = data.flags.contains(.userVerified)
        isBackupEligible = data.flags.contains(.backupEligible)
    }

    /// §8.2, verification procedure, "if x5c is not present".
    private static func checkSelfAttestation(
        _ statement: CBORMap, by key: PublicKey, over signed: [UInt8]
    ) throws(WebAuthnError) {
        guard statement.count == 2, case .integer(let algorithm)? = statement["alg"],
            case .bytes(let signature)? = statement["sig"],
            signature.count <= WebAuthnLimits.signature
        else { throw .malformed("attestation statement") }
        guard CredentialAlgorithm(rawValue: algorithm)?.signature == key.algorithm,
            key.isValid(x509: signature, for: signed)
        else { throw .wrongSignature }
    }
}

extension CredentialAlgorithm {
    fileprivate var signature: SignatureAlgorithm {
        switch self {
        case .edDSA: .edDSA
        case .es256: .es256
        case .rs256: .rs256
        }
    }
}
