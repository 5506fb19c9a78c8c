public import StrictJSON

/// A Pro JWT: gives access to everything that a Pro user owns.
public struct ProToken: TokenKind, Equatable {
    public static let use = KeyUse.accounts
    public static let type = "pro+jwt"
    public static func audience(in realm: Realm) -> String? { realm.issuer + "/api/user" }

    /// `jti`: the session. The token is invalid once that has ended.
    public let id: UserSessionID
    /// `sub`.
    public let userID: UserID
    /// `ver`: the user's credential version when the token was issued. The token is invalid once
    /// the user has another one.
    public let credentialVersion: Int64

    public init(session: UserSession, user: User) {
        id = session.id
        userID = user.id
        credentialVersion = user.credentialVersion
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti").flatMap(UserSessionID.init),
            let subject = claims.string("sub"),
            let userID = UserID(subject), let version = claims.integer("ver")
        else { return nil }
        self.id = id
        self.userID = userID
        credentialVersion = version
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("sub", userID.text)
        claims.member("ver", credentialVersion)
        claims.member("jti", id.text)
    }
}
