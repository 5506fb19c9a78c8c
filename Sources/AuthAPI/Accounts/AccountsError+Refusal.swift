internal import AuthCore
internal import HTTPEngine

extension AccountsError {
    init(_ refusal: Refusal) {
        switch refusal {
        case .malformedRequest(let cause): self.init(.badRequest, "invalid_request", cause)
        case .unsupportedMediaType(let expected):
            self.init(
                .unsupportedMediaType, "unsupported_media_type", "Send the body as \(expected).")
        case .missingToken:
            self.init(.unauthorized, "unauthorized", "Send a token as `Authorization: Bearer …`.")
        case .invalidToken:
            self.init(
                .unauthorized, "invalid_or_expired_token",
                "The token is not good, or not any more; log in again.")
        case .invalidCredentials:
            self.init(
                .unauthorized, "invalid_credentials", "The address or the password is wrong.")
        case .forbidden: self.init(.forbidden, "forbidden", "The token is not good for this.")
        case .notFound: self.init(.notFound, "not_found", "There is no such thing.")
        case .invalidAddress:
            self.init(
                .badRequest, "invalid_address", "The address is not one a mailbox can have.")
        case .invalidDomain:
            self.init(
                .badRequest, "invalid_domain",
                "The domain is not a domain, or not one that you can use.")
        case .passwordTooShort:
            self.init(
                .badRequest, "password_too_short", "The password must have at least 6 bytes.")
        case .proofRequired:
            self.init(
                .badRequest, "proof of work required",
                "Solve a challenge from GET /api/challenge and send it as `pow`.")
        case .invalidChallenge:
            self.init(
                .forbidden, "challenge not found or expired",
                "Get a new challenge from GET /api/challenge; each is good for one try.")
        case .proofRejected:
            self.init(
                .forbidden, "invalid proof of work",
                "SHA-256 of salt and nonce must begin with the zero bits asked for.")
        case .accountLimitReached:
            self.init(.forbidden, "account_limit_reached", "You have all the accounts you may.")
        case .addressTaken: self.init(.conflict, "address_taken", "The address is taken.")
        case .registrationClosed:
            self.init(
                .forbidden, "registration_closed", "The operator of this server adds users.")
        case .invalidEmail:
            self.init(.badRequest, "invalid_email", "The email is not an address.")
        case .emailTaken: self.init(.conflict, "email_taken", "The email is taken.")
        case .tokenLimitReached:
            self.init(.forbidden, "token_limit_reached", "Revoke a token before you make another.")
        case .domainLimitReached:
            self.init(.forbidden, "domain_limit_reached", "You have all the domains you may.")
        case .domainAlreadyExists:
            self.init(.conflict, "domain_already_exists", "The domain is here already.")
        case .domainInUse:
            self.init(.conflict, "domain_in_use", "Delete the accounts on the domain first.")
        case .tooManyRequests(let wait, _):
            self.init(
                .tooManyRequests, "rate_limit_exceeded",
                "Wait for the seconds in Retry-After, then retry.",
                retryAfter: wait.retryAfterSeconds)
        case .busy(let wait): self = .busy(after: wait.retryAfterSeconds)
        case .invalidSession, .invalidCapability, .unknownAPIKey, .invalidUsername,
            .usernameNotAllowed, .mailStoreMissing, .blankEmail, .blankPassword, .invalidHashURL,
            .hashUnreachable, .notAnArgon2Hash, .hashMismatch, .loginFailed, .invalidLoginToken,
            .logoutFailed:
            // No use case of this surface refuses so.
            self = .unexpected
        }
    }
}
