internal import Cryptography
internal import StrictJSON

/// What the browser says of a ceremony, which the authenticator signs (Web Authentication §5.8.1).
struct ClientData {
    enum Ceremony: String {
        case registration = "webauthn.create"
        case assertion = "webauthn.get"
    }

    private let type: String
    private let challenge: [UInt8]
    private let origin: String
    private let isCrossOrigin: Bool

    /// - Parameter bytes: a JSON object in UTF-8. It may have members that are not known here.
    init(_ bytes: [UInt8]) throws(WebAuthnError) {
        guard bytes.count <= WebAuthnLimits.clientData,
            case .object(let members)? = try? JSONValue.parse(bytes),
            case .string(let type)? = members["type"],
            case .string(let challengeText)? = members["challenge"],
            let challenge = Base64URL.decode(challengeText.utf8),
            case .string(let origin)? = members["origin"]
        else { throw .malformed("client data") }
        self.type = type
        self.challenge = challenge
        self.origin = origin
        // `topOrigin` (Level 3) is the page around a frame of another origin.
        switch (members["crossOrigin"], members["topOrigin"]) {
        case (nil, nil), (.bool(false), nil): isCrossOrigin = false
        case (.bool(true), _), (_, .some): isCrossOrigin = true
        default: throw .malformed("client data")
        }
    }

    /// The checks of §7.1 steps 7 to 9 and §7.2 steps 11 to 13. The server's pages may not be in
    /// frames, so no ceremony begins in one.
    func check(
        for ceremony: Ceremony, challenge expected: [UInt8], at relyingParty: RelyingParty
    ) throws(WebAuthnError) {
        guard type == ceremony.rawValue else { throw .wrongType }
        guard ConstantTime.equal(challenge, expected) else { throw .wrongChallenge }
        guard origin.utf8.elementsEqual(relyingParty.origin.utf8) else { throw .wrongOrigin }
        guard !isCrossOrigin else { throw .crossOrigin }
    }
}
