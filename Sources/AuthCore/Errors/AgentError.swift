/// Why a request to the agent API fails.
public enum AgentError: FlowError {
    /// The challenge token is missing, forged, expired, of another kind or already used.
    case invalidChallenge
    /// The session token is missing, forged or expired, or its account is deleted, disabled or has
    /// new credentials.
    case invalidSession
    /// The capability token is missing, forged or expired, or its account is deleted or disabled.
    case invalidCapability
    /// No account has this API key, or the account is disabled.
    case unknownAPIKey
    /// The claimed digest has fewer leading zero bits than the challenge asks for. The challenge is
    /// not spent.
    case proofTooEasy(required: Int, found: Int)
    /// The claimed digest is not the digest of this challenge and nonce. The challenge is spent.
    case wrongProof
    /// Not a valid username; the text says which rule it breaks.
    case invalidUsername(String)
    /// A valid username that only the operator may assign.
    case usernameNotAllowed
    /// The address belongs to a mailbox, or belonged to one that was deleted.
    case usernameTaken
    /// The mail store knows mailboxes by their local part, and the account is not on the domain
    /// `first`, the only one on which local parts name one mailbox each.
    case subjectNotUnique(first: String)
    /// The operator has configured no mail store.
    case mailStoreMissing
    /// The mail store did not answer this server, or gave a wrong answer.
    case mailStoreUnavailable
    case common(CommonError)

    public var isRejectedToken: Bool {
        switch self {
        case .invalidChallenge, .invalidSession, .invalidCapability: true
        default: false
        }
    }

    public var common: CommonError? {
        if case .common(let error) = self { error } else { nil }
    }
}
