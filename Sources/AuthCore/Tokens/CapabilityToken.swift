public import StrictJSON

/// The token with which an agent uses the mail store: an RS256 JWT.
///
/// A mail store verifies it with the public key and does not ask this server. It therefore cannot
/// be revoked: after a deletion it stays valid until its expiry.
public struct CapabilityToken: TokenKind, Equatable {
    public static let use = KeyUse.capability
    public static let type = "JWT"
    public static func audience(in realm: Realm) -> String? { realm.capabilityAudience }

    public let id: String
    /// `sub`: the name by which the mail store knows the mailbox.
    public let subject: String
    public let accountID: AccountID
    /// `inboxId`: the full address.
    public let inbox: String
    /// `allowedFromDomain`: the domain that mail may be sent from.
    public let allowedFromDomain: String

    public init(id: String, subject: String, account: Account) {
        self.id = id
        self.subject = subject
        accountID = account.id
        inbox = account.address.description
        allowedFromDomain = account.address.domain.text
    }

    public init?(claims: JSONObject) {
        guard let id = claims.string("jti"), let subject = claims.string("sub"),
            let account = claims.string("accountId"), let accountID = AccountID(account),
            let inbox = claims.string("inboxId"),
            let domain = claims.string("allowedFromDomain")
        else { return nil }
        self.id = id
        self.subject = subject
        self.accountID = accountID
        self.inbox = inbox
        allowedFromDomain = domain
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("sub", subject)
        claims.member("inboxId", inbox)
        claims.member("accountId", accountID.text)
        claims.member("allowedFromDomain", allowedFromDomain)
        claims.member("jti", id)
    }
}

/// The name by which the mail store knows a mailbox: the capability token's `sub` and the JMAP
/// account id.
public enum MailSubject: String, CaseIterable, Sendable {
    case address
    case localPart = "local_part"
    case accountID = "account_id"

    func of(_ account: Account) -> String {
        switch self {
        case .address: account.address.description
        case .localPart: account.address.localPart.text
        case .accountID: account.id.text
        }
    }
}
