public import StrictJSON

/// The accounts surface's proof-of-work challenge. Its token is the `id` that clients send back:
/// nothing is stored until it is spent.
public struct AccountsChallengeToken: TokenKind, Equatable {
    public static let use = KeyUse.accounts
    public static let type = "pow+jwt"
    public static func audience(in realm: Realm) -> String? { realm.issuer + "/api/accounts" }

    /// What is spent.
    public let id: String
    /// The salt as hex text.
    public let salt: String
    /// Leading zero bits.
    public let difficulty: Int

    public init(id: String, salt: String, difficulty: Int) {
        self.id = id
        self.salt = salt
        self.difficulty = difficulty
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let salt = claims.string("salt"),
            let difficulty = claims.integer("difficulty"), (0...256).contains(difficulty)
        else { return nil }
        self.init(id: id, salt: salt, difficulty: Int(difficulty))
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("jti", id)
        claims.member("salt", salt)
        claims.member("difficulty", difficulty)
    }
}
