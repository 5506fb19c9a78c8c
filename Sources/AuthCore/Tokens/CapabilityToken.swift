public import StrictJSON

/// The token with which an agent uses the mail store: a JWT that is signed with a private key.
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

/// A capability with nothing but `sub` and `iat`, for mail stores that accept no other claim and no
/// key id: Cyrus IMAP 3.6. The mail store decides how long it is valid after `iat`.
public struct MinimalCapabilityToken: TokenKind, Equatable {
    public static let use = KeyUse.capability
    public static let type = CapabilityToken.type
    public static let isMinimal = true
    public static func audience(in realm: Realm) -> String? { nil }

    /// `sub`, as in ``CapabilityToken``.
    public let subject: String

    public init(subject: String) {
        self.subject = subject
    }

    /// - Returns: `nil` when there is any other claim: such a token is not minimal, and its other
    ///   claims would have to be verified.
    public init?(claims: JSONObject) {
        guard let subject = claims.string("sub"),
            claims.members.allSatisfy({ $0.name == "sub" || $0.name == "iat" })
        else { return nil }
        self.subject = subject
    }

    public func write(to claims: inout JSONWriter) {
        claims.member("sub", subject)
    }
}

/// What capabilities contain.
public enum CapabilityClaims: String, CaseIterable, Sendable {
    /// ``CapabilityToken``.
    case full
    /// ``MinimalCapabilityToken``.
    case minimal
}

/// The name by which the mail store knows a mailbox: the capability token's `sub` and the JMAP
/// account id.
public enum MailSubject: String, CaseIterable, Sendable {
    case address
    case localPart = "local_part"
    case accountID = "account_id"
}
