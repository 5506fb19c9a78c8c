public import StrictJSON

/// A kind of token: its own `typ`, audience and key use, and the claims that only it has.
///
/// The algorithm and the keys follow from `use`, never from the token, and a verifier asks for
/// one kind: a token of another kind is as good as forged.
public protocol TokenKind: Sendable {
    /// Which keys sign it.
    static var use: KeyUse { get }
    /// The header's `typ` (RFC 7515 §4.1.9), compared exactly.
    static var type: String { get }
    /// `iss`, compared exactly.
    static func issuer(in realm: Realm) -> String
    /// `aud`, compared exactly; a kind that has none refuses a token that has one.
    static func audience(in realm: Realm) -> String?

    /// The claims beyond `iss`, `aud`, `iat` and `exp`.
    init?(claims: JSONObject)
    /// Writes the same claims.
    func write(to claims: inout JSONWriter)
}

extension TokenKind {
    public static func issuer(in realm: Realm) -> String { realm.issuer }
}

/// The names under which this server issues tokens.
public struct Realm: Equatable, Sendable {
    /// `iss`: the server's public URL.
    public let issuer: String
    /// `iss` of hash-login tokens.
    public let loginIssuer: String
    /// `aud` of capability tokens: what the mail store expects.
    public let capabilityAudience: String
    /// Whether a capability token names its key. One widely used mail store refuses a header
    /// member beyond `alg` and `typ`.
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

extension KeyUse {
    /// The one algorithm of this use (RFC 7518 §3.1).
    var algorithm: String {
        switch self {
        case .agent, .accounts: "HS256"
        case .capability, .login: "RS256"
        }
    }
}
