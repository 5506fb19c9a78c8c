public import StrictJSON

/// A hash-login token: states that the client knew the password of a registered email. An RS256 JWT
/// without audience.
///
/// `email_verified` is false: the server proves that the password fits the hash at a URL, not that
/// the mailbox belongs to the registrant.
///
/// Registrants choose its `sub`, so it is signed with separate keys, which are published in a
/// separate key set. A mail store therefore cannot accept it as a capability token.
public struct LoginToken: TokenKind, Equatable {
    public static let use = KeyUse.login
    public static let type = "JWT"
    public static func issuer(in realm: Realm) -> String { realm.loginIssuer }
    public static func audience(in realm: Realm) -> String? { nil }

    /// `sub` and `email`.
    public let email: Email
    /// `ver`: the registration's credential version when the token was issued. Every logout raises
    /// it, which makes earlier tokens invalid.
    public let credentialVersion: Int64

    public init(_ login: HashLogin) {
        email = login.email
        credentialVersion = login.credentialVersion
    }

    public init?(claims: JSONObject) {
        guard let subject = claims.string("sub"), let text = claims.string("email"),
            subject.utf8.elementsEqual(text.utf8), let email = Email(parsing: text),
            let version = claims.integer("ver")
        else { return nil }
        self.email = email
        credentialVersion = version
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("sub", email.text)
        claims.member("email", email.text)
        claims.member("email_verified", false)
        claims.member("ver", credentialVersion)
    }
}
