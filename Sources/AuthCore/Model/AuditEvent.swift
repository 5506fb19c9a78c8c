internal import Networking

/// One change or use of a credential, for the operator: the actor, the subject, the client and the
/// time. Contains no secret.
public struct AuditEvent: Equatable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case accountCreated = "account_created"
        case accountDeleted = "account_deleted"
        case accountDisabled = "account_disabled"
        case accountEnabled = "account_enabled"
        case addressFreed = "address_freed"
        case quotaChanged = "quota_changed"
        case credentialReset = "credential_reset"
        case loginSucceeded = "login_succeeded"
        case loginFailed = "login_failed"
        case userCreated = "user_created"
        case userDisabled = "user_disabled"
        case userEnabled = "user_enabled"
        case userLoggedOut = "user_logged_out"
        case sessionEnded = "session_ended"
        case otherSessionsEnded = "other_sessions_ended"
        case emailVerified = "email_verified"
        /// A link with which a new password can be set was made. With the actor `anonymous` it is
        /// sent to the user; `operator` has printed it.
        case resetLinkCreated = "reset_link_created"
        case passkeyAdded = "passkey_added"
        case passkeyRenamed = "passkey_renamed"
        case passkeyRemoved = "passkey_removed"
        /// The signature counter of a passkey did not rise: there may be a copy of it.
        case passkeyRejected = "passkey_rejected"
        case totpEnabled = "totp_enabled"
        case totpDisabled = "totp_disabled"
        case recoveryCodesReplaced = "recovery_codes_replaced"
        case recoveryCodeUsed = "recovery_code_used"
        /// The subject is the user's email and the name of the provider.
        case identityLinked = "identity_linked"
        case identityUnlinked = "identity_unlinked"
        case tokenCreated = "token_created"
        case tokenRevoked = "token_revoked"
        case domainAdded = "domain_added"
        case domainVerified = "domain_verified"
        case domainLapsed = "domain_lapsed"
        case domainRemoved = "domain_removed"
        case webhookCreated = "webhook_created"
        case webhookRotated = "webhook_rotated"
        case webhookRemoved = "webhook_removed"
        case webhookDisabled = "webhook_disabled"
        case keyRotated = "key_rotated"
        case keysResealed = "keys_resealed"
        case hashLoginCreated = "hash_login_created"
        case hashLoginEnded = "hash_login_ended"
        case hashLoginDeleted = "hash_login_deleted"

        /// Whether a client can cause any number of these events without a credential. Repetitions
        /// are counted in one record then.
        public var isFolded: Bool { self == .loginFailed }
    }

    /// Who did it.
    public enum Actor: Hashable, Sendable, CustomStringConvertible {
        case anonymous
        /// A person with access to the server's own commands.
        case `operator`
        /// This server, in a background task.
        case server
        case account(AccountID)
        case user(UserID)
        /// The holder of a hash login.
        case email(Email)

        /// The stored form: `anonymous`, `operator`, `server`, `account:<id>`, `user:<id>` or the
        /// email.
        public var description: String {
            switch self {
            case .anonymous: "anonymous"
            case .operator: "operator"
            case .server: "server"
            case .account(let id): "account:\(id)"
            case .user(let id): "user:\(id)"
            case .email(let email): email.text
            }
        }

        /// - Returns: `nil` for a text that ``description`` does not give.
        public init?(_ text: String) {
            switch text {
            case "anonymous": self = .anonymous
            case "operator": self = .operator
            case "server": self = .server
            default:
                if let id = text.after("account:").flatMap(AccountID.init) {
                    self = .account(id)
                } else if let id = text.after("user:").flatMap(UserID.init) {
                    self = .user(id)
                } else if let email = Email(parsing: text), email.text == text {
                    self = .email(email)
                } else {
                    return nil
                }
            }
        }
    }

    public let kind: Kind
    public let time: Instant
    public let actor: Actor
    /// What was changed or used: an address, an email, a domain, or the id of a token or a key.
    public let subject: String
    /// The client's network address; empty for the operator's own commands.
    public let client: String
    /// Empty for the operator's own commands.
    public let requestID: String

    /// The client as limits count it: an IPv4 address or an IPv6 /64; empty for the operator's own
    /// commands.
    public var network: String { IPAddress(client)?.client.description ?? "" }

    /// The minute in which repetitions of this event are counted in one record, since 1970; `nil`
    /// for an event that has a record of its own.
    public var minute: Int64? {
        guard kind.isFolded else { return nil }
        let (minute, rest) = time.milliseconds.quotientAndRemainder(dividingBy: 60_000)
        return rest < 0 ? minute - 1 : minute
    }

    public init(
        _ kind: Kind, time: Instant, actor: Actor, subject: String, client: String = "",
        requestID: String = ""
    ) {
        self.kind = kind
        self.time = time
        self.actor = actor
        self.subject = subject
        self.client = client
        self.requestID = requestID
    }

    public init(_ kind: Kind, by caller: Caller, actor: Actor, subject: String) {
        self.init(
            kind, time: caller.now, actor: actor, subject: subject,
            client: caller.address.description, requestID: caller.requestID)
    }
}

extension String {
    /// What follows `prefix`; `nil` when the text does not begin with its bytes.
    fileprivate func after(_ prefix: String) -> String? {
        utf8.starts(with: prefix.utf8)
            ? String(Substring(utf8.dropFirst(prefix.utf8.count))) : nil
    }
}
