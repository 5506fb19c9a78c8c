public import StrictJSON

/// Says that somebody knew the password behind an email's hash: RS256, one hour, no audience.
///
/// Its `sub` is chosen by whoever owns the email, so it is signed with keys of its own and
/// published in a set of its own: no mail store ever takes one for a capability.
public struct LoginToken: TokenKind, Equatable {
    public static let use = KeyUse.login
    public static let type = "JWT"
    public static func issuer(in realm: Realm) -> String { realm.loginIssuer }
    public static func audience(in realm: Realm) -> String? { nil }

    /// `sub` and `email`.
    public let email: Email
    /// `ver`: moves with every logout.
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
        claims.member("ver", credentialVersion)
    }
}
