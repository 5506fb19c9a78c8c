public import StrictJSON

/// An agent's session in the agent API. Only this server reads it.
public struct SessionToken: TokenKind, Equatable {
    public static let use = KeyUse.agent
    public static let type = "session+jwt"
    public static func audience(in realm: Realm) -> String? { realm.issuer + "/api/v1" }

    public let id: String
    /// `sub`.
    public let accountID: AccountID
    /// `inboxId`: the full address.
    public let inbox: String
    /// `ver`: the account's credential version when the token was issued. The token is invalid once
    /// the account has another one.
    public let credentialVersion: Int64

    public init(id: String, account: Account) {
        self.id = id
        accountID = account.id
        inbox = account.address.description
        credentialVersion = account.credentialVersion
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let subject = claims.string("sub"),
            let accountID = AccountID(subject), let inbox = claims.string("inboxId"),
            let version = claims.integer("ver")
        else { return nil }
        self.id = id
        self.accountID = accountID
        self.inbox = inbox
        credentialVersion = version
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("sub", accountID.text)
        claims.member("inboxId", inbox)
        claims.member("ver", credentialVersion)
        claims.member("jti", id)
    }
}
