public import StrictJSON

/// A kind of token, with its own `typ`, audience, key use and claims.
///
/// A verifier names the kind that it expects, and a token of another kind is invalid. The keys
/// follow from `use`, and the algorithm from the key, never from the token.
public protocol TokenKind: Sendable {
    /// The use of the keys that sign it.
    static var use: KeyUse { get }
    /// The header's `typ` (RFC 7515 §4.1.9), compared exactly.
    static var type: String { get }
    /// `iss`, compared exactly.
    static func issuer(in realm: Realm) -> String
    /// `aud`, compared exactly. For a kind without an audience, a token that has one is invalid.
    static func audience(in realm: Realm) -> String?
    /// Whether the token has nothing but `alg` and `typ` in its header and, beside its own claims,
    /// nothing but `iat`: no key id, issuer, audience or expiry.
    static var isMinimal: Bool { get }

    /// The claims beyond `iss`, `aud`, `iat` and `exp`.
    init?(claims: JSONObject)
    /// Writes the same claims.
    func write(to claims: inout JSONWriter)
}

extension TokenKind {
    public static func issuer(in realm: Realm) -> String { realm.issuer }
    public static var isMinimal: Bool { false }
}

/// The names under which this server issues tokens.
public struct Realm: Equatable, Sendable {
    /// `iss`: the server's public URL.
    public let issuer: String
    /// `iss` of hash-login tokens.
    public let loginIssuer: String
    /// `aud` of capability tokens, which the mail store expects.
    public let capabilityAudience: String
    /// Whether a capability token names its key in `kid`. Cyrus IMAP rejects tokens with other
    /// header members than `alg` and `typ`.
    public let capabilityKeyID: Bool

    /// - Parameter loginIssuer: `issuer` unless given.
    public init(
        issuer: String, loginIssuer: String? = nil, capabilityAudience: String,
        capabilityKeyID: Bool = true
    ) {
        self.issuer = issuer
        self.loginIssuer = loginIssuer ?? issuer
        self.capabilityAudience = capabilityAudience
        self.capabilityKeyID = capabilityKeyID
    }

    func namesKey(for use: KeyUse) -> Bool {
        use == .capability ? capabilityKeyID : true
    }
}
