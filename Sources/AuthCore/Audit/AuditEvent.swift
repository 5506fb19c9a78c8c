/// One thing that happened to a credential, for the operator: who, what, to whom, from where and
/// when. Carries no secret and nothing that opens anything.
public struct AuditEvent: Equatable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case accountCreated = "account_created"
        case accountDeleted = "account_deleted"
        case accountDisabled = "account_disabled"
        case accountEnabled = "account_enabled"
        case addressFreed = "address_freed"
        case credentialReset = "credential_reset"
        case loginSucceeded = "login_succeeded"
        case loginFailed = "login_failed"
        case userCreated = "user_created"
        case userDisabled = "user_disabled"
        case userEnabled = "user_enabled"
        case userLoggedOut = "user_logged_out"
        case tokenCreated = "token_created"
        case tokenRevoked = "token_revoked"
        case domainAdded = "domain_added"
        case domainVerified = "domain_verified"
        case domainRemoved = "domain_removed"
        case keyRotated = "key_rotated"
        case hashLoginCreated = "hash_login_created"
        case hashLoginEnded = "hash_login_ended"
    }

    public let kind: Kind
    public let time: Instant
    /// Who did it: `account:<id>`, `user:<id>`, the email of a hash login, `operator` or
    /// `anonymous`.
    public let actor: String
    /// To what it was done: an address, an email, a domain, the id of a token or a key.
    public let subject: String
    /// The client's network address; empty for the operator's own commands.
    public let client: String
    /// Empty for the operator's own commands.
    public let requestID: String

    public init(
        _ kind: Kind, time: Instant, actor: String, subject: String, client: String = "",
        requestID: String = ""
    ) {
        self.kind = kind
        self.time = time
        self.actor = actor
        self.subject = subject
        self.client = client
        self.requestID = requestID
    }

    public init(_ kind: Kind, by caller: Caller, actor: String, subject: String) {
        self.init(
            kind, time: caller.now, actor: actor, subject: subject,
            client: caller.client.description, requestID: caller.requestID)
    }
}
