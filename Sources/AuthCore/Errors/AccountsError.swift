/// Why a request to the accounts API fails.
public enum AccountsError: FlowError {
    /// There is no token where one is needed.
    case missingToken
    /// The token is forged or expired, or the credentials behind it have changed.
    case invalidToken
    /// The token is valid and does not give access to this.
    case forbidden
    /// Only a user who has logged in within the last ten minutes may do this.
    case recentLoginRequired
    /// There is no such object, or the caller must not learn whether there is one.
    case notFound
    /// There is no account with this address or email, or the password is wrong.
    case invalidCredentials
    /// The first factor is right, and the user has a second one.
    case secondFactorRequired(SecondFactorChallenge)
    /// The challenge of a passkey, a second factor or an enrolment is forged, expired or was
    /// answered, or the user's credentials have changed since.
    case expiredChallenge
    /// What the browser sent is not a new passkey for this server.
    case invalidPasskey
    /// The authenticator's credential is registered already.
    case passkeyExists
    case passkeyLimitReached
    /// The user could not log in without it.
    case lastCredential
    /// The user has one-time codes.
    case totpExists
    /// Not the present code of the secret.
    case wrongCode
    /// The sign-in at an identity provider is over, was ended, or began in another browser.
    case signInExpired
    /// The provider says that the user, or the provider, does not want the sign-in.
    case providerDenied
    /// What the provider sent does not show who it is. The operator finds the cause in the log.
    case providerRejected
    /// The provider does not answer.
    case providerUnavailable
    /// The provider has no verified email of somebody who has no user yet.
    case emailNotVerified
    /// The operator takes only emails of other domains from this provider.
    case emailNotAllowed
    /// Another credential logs in the user with this email. Logged in, the user can link this one.
    case linkRequired
    /// The identity is linked already, to this or to another user.
    case identityTaken
    /// The user has another identity at this provider.
    case identityExists
    /// Not an address that a mailbox can have.
    case invalidAddress
    /// Not a domain, or not one that this caller may use.
    case invalidDomain
    case passwordTooShort
    /// A user's password is among the most common ones, or is the user's email.
    case passwordTooCommon
    /// An account without an owner needs a proof of work.
    case proofRequired
    /// The challenge is forged, expired or already used.
    case invalidChallenge
    /// The nonce does not solve the challenge. The challenge is spent.
    case wrongProof
    case accountLimitReached
    /// The address belongs to a mailbox, belonged to one that was deleted, or is reserved.
    case addressTaken
    case registrationClosed
    case invalidEmail
    case emailTaken
    /// The server sends no mail.
    case mailerMissing
    /// The link was used, has expired, or is none of this server.
    case invalidLink
    /// The user's email has been verified before.
    case emailVerified
    case tokenLimitReached
    case domainLimitReached
    case domainAlreadyExists
    /// The domain still has accounts.
    case domainInUse
    /// Not a URL that webhooks may have.
    case invalidURL
    /// The user has a webhook.
    case webhookExists
    /// The webhook was disabled because its events were not accepted.
    case webhookDisabled
    /// No mail store is configured that this server can ask.
    case mailStoreMissing
    /// The mail store cannot be reached, or does not answer in time.
    case mailStoreUnavailable(retryAfter: Duration)
    /// The mail store answered what it must not.
    case invalidStoreResponse
    /// The client waits for new messages on as many connections as it may.
    case tooManyWaits
    case common(CommonError)

    public var isRejectedToken: Bool { if case .invalidToken = self { true } else { false } }

    public var common: CommonError? {
        if case .common(let error) = self { error } else { nil }
    }
}

/// What a client needs to present a second factor.
public struct SecondFactorChallenge: Sendable {
    /// The client sends it back with the factor.
    public let token: String
    /// Which factors the user has beside the one-time codes.
    public let hasRecoveryCodes: Bool
    public let hasPasskeys: Bool
    public let lifetime: Duration
}
