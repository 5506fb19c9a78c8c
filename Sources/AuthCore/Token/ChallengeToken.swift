public import StrictJSON

/// An agent's challenge. The token is the whole state: nothing is stored until it is spent.
public struct ChallengeToken: TokenKind, Equatable {
    public static let use = KeyUse.agent
    public static let type = "challenge+jwt"
    public static func audience(in realm: Realm) -> String? { realm.issuer + "/api/v1/session" }

    /// `jti`: at least 128 random bits, no `:`; the first half of what is hashed.
    public let id: String
    /// Leading zero bits that the digest must have.
    public let difficulty: Int
    /// The hex text whose UTF-8 bytes are the scrypt salt.
    public let salt: String

    public init(id: String, difficulty: Int, salt: String) {
        self.id = id
        self.difficulty = difficulty
        self.salt = salt
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let salt = claims.string("salt"),
            let difficulty = claims.integer("difficulty"), (0...512).contains(difficulty)
        else { return nil }
        self.init(id: id, difficulty: Int(difficulty), salt: salt)
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("jti", id)
        claims.member("difficulty", difficulty)
        claims.member("salt", salt)
    }
}
