/// Every way in which Postern turns a caller away. Each is the caller's to mend; anything else
/// that is thrown is our own fault and is answered 500 without detail.
///
/// A refusal carries what the caller needs to mend it and nothing secret. Each API renders it in
/// its own error shape through one exhaustive `switch`.
public enum Refusal: Error, Equatable, Sendable {
    // Of every surface.

    /// The body is not what the endpoint takes; the text says where and why.
    case malformedRequest(String)
    /// `Content-Type` was given and is not `expected`.
    case unsupportedMediaType(expected: String)
    /// The proof of work does not hold.
    case proofRejected(ProofFault)
    /// The address belongs to somebody, or did, or is the operator's to give out.
    case addressTaken
    /// Too many of these from this client; how its bucket stands, where there is one.
    case tooManyRequests(retryAfter: Duration, standing: RateStatus? = nil)
    /// The work queue is full, or the database is busy or has no room; nothing was done.
    case busy(retryAfter: Duration)

    // Of the agents' surface.

    /// The challenge token is missing, forged, expired, of another kind or already used.
    case invalidChallenge
    /// The session token is missing, forged or expired, or its account is gone, disabled or has
    /// new credentials.
    case invalidSession
    /// The capability token is missing, forged or expired, or its account is gone.
    case invalidCapability
    /// No account has this API key, or it is disabled.
    case unknownAPIKey
    /// Not a valid username; the text says which rule it breaks.
    case invalidUsername(String)
    /// A valid username that only the operator may give out.
    case usernameNotAllowed
    /// No mail store is configured.
    case mailStoreMissing

    // Of the accounts surface.

    /// There is no token where one is needed.
    case missingToken
    /// The token is forged or expired, or what it stood for has changed.
    case invalidToken
    /// The token is good but not for this.
    case forbidden
    /// There is no such thing, or none that this caller may know of.
    case notFound
    /// The address and the password do not belong together.
    case invalidCredentials
    /// Not an address that a mailbox can have.
    case invalidAddress
    /// Not a domain, or not one that this caller may make mailboxes on.
    case invalidDomain
    case passwordTooShort
    /// A free account needs a proof of work.
    case proofRequired
    case accountLimitReached
    case registrationClosed
    case invalidEmail
    case emailTaken
    case tokenLimitReached
    case domainLimitReached
    case domainAlreadyExists
    /// Accounts are on the domain.
    case domainInUse

    // Of the hash-login surface.

    case blankEmail
    case blankPassword
    /// Not a URL, or not one that may be fetched as far as its text tells.
    case invalidHashURL
    /// Whatever kept the hash from coming.
    case hashUnreachable
    /// What came is not exactly one Argon2 string within the bounds.
    case notAnArgon2Hash
    case hashMismatch
    /// The email and the password do not belong together, or could not be checked in time.
    case loginFailed
    case invalidLoginToken
    /// Neither a good token nor a right password came with a logout.
    case logoutFailed
}

/// What is wrong with a proof of work.
public enum ProofFault: Equatable, Sendable {
    /// The digest has fewer leading zero bits than the challenge asks for.
    case tooEasy(required: Int, found: Int)
    /// The digest is not the digest of this challenge and nonce.
    case wrongDigest
}

extension Refusal {
    /// The refusal that `error` stands for, if it stands for one.
    public init?(_ error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case is StoreBusy: self = .busy(retryAfter: .seconds(1))
        // Room does not come back as quickly as a lock.
        case is StoreFull: self = .busy(retryAfter: .seconds(10))
        default: return nil
        }
    }
}
