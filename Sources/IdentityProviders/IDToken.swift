internal import Cryptography
internal import StrictJSON

/// The statement of a provider who has signed in (OpenID Connect Core §2), a JWS in compact form.
public struct IDToken: Sendable {
    /// What a token must say.
    public struct Expectation: Sendable {
        public let issuer: String
        public let clientID: String
        public let nonce: String
        /// Seconds since 1970.
        public let now: Int64

        public init(issuer: String, clientID: String, nonce: String, now: Int64) {
            self.issuer = issuer
            self.clientID = clientID
            self.nonce = nonce
            self.now = now
        }
    }

    /// The allowed difference between the clocks of the provider and of this server, in seconds.
    public static let clockSkew: Int64 = 60
    /// The token was made for this sign-in, so it cannot be older. In seconds.
    public static let maximumAge: Int64 = 600

    private let algorithm: String
    private let keyID: String?
    private let signedBytes: [UInt8]
    private let signature: [UInt8]
    private let claims: JSONObject

    /// - Throws: ``ProviderError/invalid(_:)`` unless `text` is a JWS of an algorithm that keys of
    ///   providers may have. There is none without a signature, and none with a shared secret.
    public init(_ text: String) throws(ProviderError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= ProviderLimits.idToken else {
            throw .invalid("the ID token is too long")
        }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]),
            let claims = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
        else { throw .invalid("the ID token is not a JWS in compact form") }
        let members = try JSONObject(header, of: "the header of the ID token")
        guard let algorithm = members.string("alg"),
            SignatureAlgorithm(rawValue: algorithm) != nil
        else { throw .invalid("the ID token is not signed by RS256, ES256 or EdDSA") }
        guard members["crit"] == nil, members["b64"] == nil,
            // An access token is no ID token (RFC 9068 §2.1).
            members["typ"] == nil || members.string("typ")?.lowercased() == "jwt"
        else { throw .invalid("the ID token is of another kind") }
        guard members["kid"] == nil || members.string("kid") != nil else {
            throw .invalid("the ID token has a `kid` that is not text")
        }
        self.algorithm = algorithm
        keyID = members.string("kid")
        self.claims = try JSONObject(claims, of: "the content of the ID token")
        self.signature = signature
        signedBytes = Array(bytes[..<parts[1].endIndex])
    }

    /// Whether a key of the set may have signed it. If not, the set may be an old one.
    public func isSigned(byKeyOf set: KeySet) -> Bool {
        set.key(id: keyID, algorithm: algorithm) != nil
    }

    /// Verifies the signature and the claims (OpenID Connect Core §3.1.3.7).
    /// - Throws: ``ProviderError/invalid(_:)``.
    public func verified(
        by set: KeySet, _ expected: Expectation
    ) throws(ProviderError) -> ProviderIdentity {
        guard let key = set.key(id: keyID, algorithm: algorithm) else {
            throw .invalid("the ID token is not signed with a key of the provider")
        }
        guard key.isValid(signature, for: signedBytes) else {
            throw .invalid("the signature of the ID token is wrong")
        }
        guard claims.string("iss")?.hasBytes(of: expected.issuer) == true else {
            throw .invalid("the ID token is of another issuer")
        }
        try checkAudience(expected.clientID)
        try checkTimes(expected.now)
        guard claims.string("nonce")?.hasBytes(of: expected.nonce) == true else {
            throw .invalid("the ID token was made for another sign-in")
        }
        return try claims.identity()
    }

    private func checkAudience(_ clientID: String) throws(ProviderError) {
        let audiences: [JSONValue] =
            switch claims["aud"] {
            case .string(let text)?: [.string(text)]
            case .array(let list)?: list
            default: []
            }
        guard audiences.contains(where: { $0.string?.hasBytes(of: clientID) == true }) else {
            throw .invalid("the ID token is for another client")
        }
        let party = claims.string("azp")
        guard claims["azp"] == nil ? audiences.count == 1 : party?.hasBytes(of: clientID) == true
        else { throw .invalid("the ID token was given to another client") }
    }

    private func checkTimes(_ now: Int64) throws(ProviderError) {
        guard let expiry = claims.date("exp"), now < expiry + Self.clockSkew else {
            throw .invalid("the ID token has expired")
        }
        guard let issued = claims.date("iat"), issued <= now + Self.clockSkew,
            now - issued <= Self.maximumAge
        else { throw .invalid("the ID token is not of this time") }
        if claims["nbf"] != nil {
            guard let start = claims.date("nbf"), start <= now + Self.clockSkew else {
                throw .invalid("the ID token is not valid yet")
            }
        }
    }
}
