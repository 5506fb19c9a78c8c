internal import StrictJSON

/// A sign-in at an identity provider that has begun. Only the browser that began it has the token,
/// as a cookie; what the provider gets follows from its id (``SignInSecrets``).
struct ProviderLoginToken: AnsweredToken, Equatable {
    /// What the identity is wanted for.
    enum Purpose: Equatable, Sendable {
        case login
        /// To be linked to the user who has this session.
        case link(UserID, UserSessionID)
    }

    static let use = KeyUse.accounts
    static let type = "provider-login+jwt"
    static func audience(in realm: Realm) -> String? { realm.issuer + "/api/user/oauth" }

    let id: String
    /// `provider`: its name here. A sign-in that began at one cannot end at another.
    let provider: String
    let purpose: Purpose

    init(id: String, provider: String, purpose: Purpose) {
        self.id = id
        self.provider = provider
        self.purpose = purpose
    }

    init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let provider = claims.string("provider") else {
            return nil
        }
        self.id = id
        self.provider = provider
        guard claims["sub"] != nil || claims["sid"] != nil else {
            purpose = .login
            return
        }
        guard let user = claims.string("sub").flatMap(UserID.init),
            let session = claims.string("sid").flatMap(UserSessionID.init)
        else { return nil }
        purpose = .link(user, session)
    }

    func write(to claims: inout JSONWriter) {
        claims.member("jti", id)
        claims.member("provider", provider)
        if case .link(let user, let session) = purpose {
            claims.member("sub", user.text)
            claims.member("sid", session.text)
        }
    }
}
