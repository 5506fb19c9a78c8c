internal import AuthCore
internal import HTTPEngine

/// Renders the errors of the accounts API. Clients read only the code.
struct AccountsErrors: Sendable {
    /// For the errors that the engine answers itself.
    var renderer: ErrorRenderer {
        { error, _ in CodedError(error).response() }
    }

    func response(_ error: AccountsError) -> Response {
        if case .secondFactorRequired(let challenge) = error { return challenge.response }
        return CodedError(error).response()
    }
}

extension CodedError {
    init(_ error: AccountsError) {
        switch error {
        case .missingToken:
            self.init(.unauthorized, "unauthorized", "Send a token as `Authorization: Bearer …`.")
        case .invalidToken:
            self.init(
                .unauthorized, "invalid_or_expired_token",
                "The token is invalid or no longer valid; log in again.")
        case .forbidden:
            self.init(.forbidden, "forbidden", "The token does not give access to this.")
        case .recentLoginRequired: self = .recentLoginRequired
        case .notFound: self.init(.notFound, "not_found", "There is no such thing.")
        case .invalidCredentials:
            self.init(
                .unauthorized, "invalid_credentials", "The address or the password is wrong.")
        case .secondFactorRequired, .expiredChallenge, .invalidPasskey, .passkeyExists,
            .passkeyLimitReached, .lastCredential, .totpExists, .wrongCode:
            self = Self.ofFactor(error)
        case .signInExpired, .providerDenied, .providerRejected, .providerUnavailable,
            .emailNotVerified, .emailNotAllowed, .linkRequired, .identityTaken, .identityExists:
            self = Self.ofProvider(error)
        case .invalidAddress:
            self.init(.badRequest, "invalid_address", "No mailbox can have this address.")
        case .invalidDomain:
            self.init(
                .badRequest, "invalid_domain", "This is not a domain, or not one that you can use.")
        case .passwordTooShort: self = .passwordTooShort
        case .passwordTooCommon: self = .passwordTooCommon
        case .proofRequired:
            self.init(
                .badRequest, "proof of work required",
                "Solve a challenge from GET /api/challenge and send it as `pow`.")
        case .invalidChallenge:
            self.init(
                .forbidden, "challenge not found or expired",
                "Get a new challenge from GET /api/challenge; each can be used once.")
        case .wrongProof:
            self.init(
                .forbidden, "invalid proof of work",
                "SHA-256 of salt and nonce must begin with at least `difficulty` zero bits.")
        case .accountLimitReached:
            self.init(
                .forbidden, "account_limit_reached", "You have as many accounts as you may.")
        case .addressTaken: self.init(.conflict, "address_taken", "The address is taken.")
        case .registrationClosed:
            self.init(
                .forbidden, "registration_closed", "Only the operator of this server adds users.")
        case .invalidEmail:
            self.init(.badRequest, "invalid_email", "The email is not an address.")
        case .emailTaken: self.init(.conflict, "email_taken", "The email is taken.")
        case .mailerMissing, .invalidLink, .emailVerified: self = Self.ofLink(error)
        case .tokenLimitReached:
            self.init(
                .forbidden, "token_limit_reached", "Revoke a token before you create another.")
        case .domainLimitReached:
            self.init(.forbidden, "domain_limit_reached", "You have as many domains as you may.")
        case .domainAlreadyExists:
            self.init(.conflict, "domain_already_exists", "The domain is already in use here.")
        case .domainInUse:
            self.init(.conflict, "domain_in_use", "Delete the accounts on the domain first.")
        case .invalidURL: self = .invalidURL
        case .webhookExists: self = .webhookExists
        case .webhookDisabled: self = .webhookDisabled
        case .mailStoreMissing: self = .mailStoreMissing
        case .mailStoreUnavailable(let wait): self = .mailStoreUnavailable(retryAfter: wait)
        case .invalidStoreResponse: self = .invalidStoreResponse
        case .tooManyWaits: self = .tooManyWaits
        case .common(let error): self.init(error)
        }
    }

    /// Those of passkeys and second factors.
    private static func ofFactor(_ error: AccountsError) -> CodedError {
        switch error {
        case .invalidPasskey:
            CodedError(
                .badRequest, "invalid_passkey",
                "This is not a new passkey that a browser has made for this server.")
        case .passkeyExists:
            CodedError(.conflict, "passkey_exists", "This passkey is registered already.")
        case .passkeyLimitReached:
            CodedError(
                .forbidden, "passkey_limit_reached", "There can be \(Passkey.limit) passkeys.")
        case .lastCredential:
            CodedError(
                .conflict, "last_credential", "Without it you could not log in; set a password.")
        case .totpExists:
            CodedError(.conflict, "totp_exists", "One-time codes are on; turn them off first.")
        case .wrongCode:
            CodedError(
                .badRequest, "invalid_code",
                "This is not the present code; check the time of your device.")
        default:
            CodedError(
                .unauthorized, "invalid_challenge",
                "The challenge has expired or was used; begin again.")
        }
    }

    /// Those of identity providers.
    private static func ofProvider(_ error: AccountsError) -> CodedError {
        switch error {
        case .providerDenied:
            CodedError(
                .forbidden, "provider_denied",
                "The provider did not confirm the login; begin again, or log in another way.")
        case .providerRejected:
            CodedError(
                .unauthorized, "provider_rejected",
                "The provider's answer does not show who you are; begin again. If that does not"
                    + " help, the operator of this server finds the cause in the log.")
        case .providerUnavailable:
            CodedError(
                .serviceUnavailable, "provider_unavailable",
                "The provider does not answer; try again later, or log in another way.",
                retryAfter: .seconds(10))
        case .emailNotVerified:
            CodedError(
                .forbidden, "email_not_verified",
                "The provider does not say that your email is verified.")
        case .emailNotAllowed:
            CodedError(
                .forbidden, "email_not_allowed",
                "Only verified emails of certain domains may log in with this provider.")
        case .linkRequired:
            CodedError(
                .conflict, "link_required",
                "There is a user with your email, whom this provider does not log in yet.")
        case .identityTaken:
            CodedError(
                .conflict, "identity_taken",
                "Your account at the provider is linked to a user already.")
        case .identityExists:
            CodedError(
                .conflict, "identity_exists",
                "Another account at this provider is linked to you already.")
        default:
            CodedError(
                .unauthorized, "sign_in_expired",
                "The login at the provider took too long, was used already, or began in another"
                    + " browser; begin again.")
        }
    }

    private static let passwordTooShort = CodedError(
        .badRequest, "password_too_short",
        "The password must have at least \(MailboxSecret.passwordBytes.lowerBound) bytes, "
            + "a user's at least 8 characters.")

    /// Those of links by mail.
    private static func ofLink(_ error: AccountsError) -> CodedError {
        switch error {
        case .mailerMissing:
            CodedError(
                .forbidden, "mail_disabled",
                "This server sends no mail; its operator makes links for a new password.")
        case .emailVerified:
            CodedError(.conflict, "email_verified", "The email has been verified already.")
        default:
            CodedError(
                .badRequest, "invalid_link",
                "The link was used or has expired; ask for another one.")
        }
    }

    private static let passwordTooCommon = CodedError(
        .badRequest, "password_too_common",
        "The password is one of the most common ones, or your email; choose another.")

    private static let recentLoginRequired = CodedError(
        .forbidden, "recent_login_required",
        "Log in again, then repeat the request within ten minutes.")

    private static let invalidURL = CodedError(
        .badRequest, "invalid_url",
        "The URL must be https, of a public host, on a port that this server allows.")

    private static let webhookExists = CodedError(
        .conflict, "webhook_exists", "Delete your webhook before you add another.")

    private static let webhookDisabled = CodedError(
        .conflict, "webhook_disabled",
        "Too many events were not accepted; rotate the secret to send events again.")

    private static let mailStoreMissing = CodedError(
        .serviceUnavailable, "mail_store_missing",
        "This server has no mail; its operator chooses a store with `mail.store`.",
        retryAfter: .seconds(3600))

    private static func mailStoreUnavailable(retryAfter wait: Duration) -> CodedError {
        CodedError(
            .serviceUnavailable, "mail_store_unavailable",
            "The mail store does not answer; wait for the seconds in Retry-After and retry.",
            retryAfter: wait)
    }

    private static let invalidStoreResponse = CodedError(
        .badGateway, "mail_store_error",
        "The mail store gave no answer that this server can use; its operator finds the cause in "
            + "the log.")

    private static let tooManyWaits = CodedError(
        .tooManyRequests, "rate_limit_exceeded",
        "You wait for messages on as many connections as you may.", retryAfter: .seconds(1))
}
