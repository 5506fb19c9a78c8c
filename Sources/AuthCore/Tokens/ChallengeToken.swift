public import StrictJSON

/// A proof-of-work challenge as a token. The token holds the whole challenge, so nothing is stored
/// until the challenge is spent.
public protocol ChallengeToken: TokenKind, Equatable {
    /// The length of the digest in bits, which is also the greatest difficulty.
    static var digestBits: Int64 { get }

    /// `jti`: at least 128 random bits, without `:`. The store records it when the challenge is
    /// spent.
    var id: String { get }
    /// The number of leading zero bits that a solution's digest must have.
    var difficulty: Int { get }
    /// The salt as hex text.
    var salt: String { get }

    init(id: String, difficulty: Int, salt: String)
}

extension ChallengeToken {
    public init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let salt = claims.string("salt"),
            let difficulty = claims.integer("difficulty"),
            (0...Self.digestBits).contains(difficulty)
        else { return nil }
        self.init(id: id, difficulty: Int(difficulty), salt: salt)
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("jti", id)
        claims.member("difficulty", difficulty)
        claims.member("salt", salt)
    }
}

/// The challenge of the agent API, solved with scrypt.
public struct AgentChallengeToken: ChallengeToken {
    public static let use = KeyUse.agent
    public static let type = "challenge+jwt"
    public static let digestBits: Int64 = 512
    public static func audience(in realm: Realm) -> String? { realm.issuer + "/api/v1/session" }

    public let id: String
    public let difficulty: Int
    public let salt: String

    public init(id: String, difficulty: Int, salt: String) {
        self.id = id
        self.difficulty = difficulty
        self.salt = salt
    }
}

/// The challenge of the accounts API, solved with SHA-256. Clients send the token back as `pow.id`.
public struct AccountsChallengeToken: ChallengeToken {
    public static let use = KeyUse.accounts
    public static let type = "pow+jwt"
    public static let digestBits: Int64 = 256
    public static func audience(in realm: Realm) -> String? { realm.issuer + "/api/accounts" }

    public let id: String
    public let difficulty: Int
    public let salt: String

    public init(id: String, difficulty: Int, salt: String) {
        self.id = id
        self.difficulty = difficulty
        self.salt = salt
    }
}
