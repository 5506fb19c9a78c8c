public import StrictJSON

/// An Email JWT: gives access to one mailbox account in the accounts API.
public struct EmailToken: TokenKind, Equatable {
    public static let use = KeyUse.accounts
    public static let type = "email+jwt"
    public static func audience(in realm: Realm) -> String? { realm.issuer + "/api/accounts" }

    public let id: String
    /// `sub`.
    public let accountID: AccountID
    /// `ver`: the account's credential version when the token was issued. The token is invalid once
    /// the account has another one.
    public let credentialVersion: Int64

    public init(id: String, account: Account) {
        self.id = id
        accountID = account.id
        credentialVersion = account.credentialVersion
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let subject = claims.string("sub"),
            let accountID = AccountID(subject), let version = claims.integer("ver")
        else { return nil }
        self.id = id
        self.accountID = accountID
        credentialVersion = version
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("sub", accountID.text)
        claims.member("ver", credentialVersion)
        claims.member("jti", id)
    }
}
