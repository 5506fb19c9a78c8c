internal import Cryptography

/// What the authenticator signs beside the hash of the client data (Web Authentication §6.1).
struct AuthenticatorData {
    /// A new credential (§6.5.1).
    struct Credential {
        /// The model of the authenticator; zeros unless it says.
        let model: [UInt8]
        let id: [UInt8]
        let publicKey: PublicKey
    }

    /// Of the identifier of the relying party.
    let relyingPartyHash: [UInt8]
    let flags: Flags
    let signatureCount: UInt32
    let credential: Credential?

    struct Flags: OptionSet {
        let rawValue: UInt8

        static let userPresent = Flags(rawValue: 1 << 0)
        static let userVerified = Flags(rawValue: 1 << 2)
        /// The two of Level 3 §6.1.3: whether the credential can be, and is, on several devices.
        static let backupEligible = Flags(rawValue: 1 << 3)
        static let backedUp = Flags(rawValue: 1 << 4)
        static let hasCredential = Flags(rawValue: 1 << 6)
        static let hasExtensions = Flags(rawValue: 1 << 7)
    }

    private static let (hashBytes, modelBytes) = (32, 16)

    init(_ bytes: [UInt8]) throws(WebAuthnError) {
        guard bytes.count <= WebAuthnLimits.authenticatorData else { throw Self.malformed }
        var rest = bytes[...]
        relyingPartyHash = try Self.take(Self.hashBytes, of: &rest)
        flags = Flags(rawValue: try Self.take(1, of: &rest)[0])
        signatureCount = try Self.take(4, of: &rest).reduce(0) { $0 << 8 | UInt32($1) }
        guard flags.contains(.backupEligible) || !flags.contains(.backedUp) else {
            throw Self.malformed
        }
        credential =
            flags.contains(.hasCredential) ? try Self.credential(of: &rest) : nil
        // Extensions are not asked for. What an authenticator adds unasked has no meaning here.
        if flags.contains(.hasExtensions) { _ = try Self.map(of: &rest) }
        guard rest.isEmpty else { throw Self.malformed }
    }

    private static func credential(
        of rest: inout ArraySlice<UInt8>
    ) throws(WebAuthnError) -> Credential {
        let model = try take(modelBytes, of: &rest)
        let count = try take(2, of: &rest).reduce(0) { $0 << 8 | Int($1) }
        guard (1...WebAuthnLimits.credentialID).contains(count) else { throw malformed }
        let id = try take(count, of: &rest)
        return Credential(
            model: model, id: id, publicKey: try COSEKey.publicKey(try map(of: &rest)))
    }

    private static func map(of rest: inout ArraySlice<UInt8>) throws(WebAuthnError) -> CBORMap {
        var reader = CBORReader(rest)
        guard case .map(let map)? = try? reader.next() else { throw malformed }
        rest = rest[reader.position...]
        return map
    }

    private static func take(
        _ count: Int, of rest: inout ArraySlice<UInt8>
    ) throws(WebAuthnError) -> [UInt8] {
        guard rest.count >= count else { throw malformed }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private static let malformed = WebAuthnError.malformed("authenticator data")

    /// The checks that both ceremonies have in common (§7.1 steps 13 to 14, §7.2 steps 15 to 16).
    func check(for relyingParty: RelyingParty) throws(WebAuthnError) {
        guard relyingPartyHash == SHA256.digest(Array(relyingParty.id.utf8)) else {
            throw .wrongRelyingParty
        }
        guard flags.contains(.userPresent) else { throw .userAbsent }
    }
}
