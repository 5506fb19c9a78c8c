internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// Renders the errors of the accounts API: `{"error":"<code>","message":"<sentence>"}`. Clients
/// read only the code.
struct AccountsErrors: Sendable {
    /// For the errors that the engine answers itself.
    var renderer: ErrorRenderer {
        { error, _ in response(ErrorCode(error)) }
    }

    func response(_ error: AccountsError) -> Response { response(ErrorCode(error)) }

    private func response(_ error: ErrorCode) -> Response {
        var response = Response.json(error.status) { body in
            body.member("error", error.code)
            body.member("message", error.message)
        }
        response.addErrorFields(retryAfter: error.retryAfter)
        return response
    }
}

/// One error of the accounts API.
private struct ErrorCode {
    let status: Status
    let code: String
    let message: String
    var retryAfter: Duration?

    private init(
        _ status: Status, _ code: String, _ message: String, retryAfter: Duration? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

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
        case .notFound: self.init(.notFound, "not_found", "There is no such thing.")
        case .invalidCredentials:
            self.init(
                .unauthorized, "invalid_credentials", "The address or the password is wrong.")
        case .invalidAddress:
            self.init(.badRequest, "invalid_address", "No mailbox can have this address.")
        case .invalidDomain:
            self.init(
                .badRequest, "invalid_domain", "This is not a domain, or not one that you can use.")
        case .passwordTooShort:
            self.init(
                .badRequest, "password_too_short",
                "The password must have at least \(MailboxSecret.passwordBytes.lowerBound) bytes, "
                    + "a user's at least 8 characters.")
        case .passwordTooCommon:
            self.init(
                .badRequest, "password_too_common",
                "The password is one of the most common ones, or your email; choose another.")
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
        case .tokenLimitReached:
            self.init(
                .forbidden, "token_limit_reached", "Revoke a token before you create another.")
        case .domainLimitReached:
            self.init(.forbidden, "domain_limit_reached", "You have as many domains as you may.")
        case .domainAlreadyExists:
            self.init(.conflict, "domain_already_exists", "The domain is already in use here.")
        case .domainInUse:
            self.init(.conflict, "domain_in_use", "Delete the accounts on the domain first.")
        case .common(let error): self.init(error)
        }
    }

    private init(_ error: CommonError) {
        switch error {
        case .malformedRequest(let explanation):
            self.init(.badRequest, "invalid_request", explanation)
        case .unsupportedMediaType(let expected):
            self.init(
                .unsupportedMediaType, "unsupported_media_type", "Send the body as \(expected).")
        case .rateLimited(let limit):
            self.init(
                .tooManyRequests, "rate_limit_exceeded",
                "Wait for the seconds in Retry-After, then retry.", retryAfter: limit.retryAfter)
        case .busy(let wait): self.init(busyFor: wait)
        case .failed: self = .internalError
        }
    }

    private static let internalError = ErrorCode(
        .internalServerError, "internal_error", "This is a fault of the server; try again later.")

    init(_ error: HTTPError) {
        switch error {
        case .malformed(let error):
            self.init(error.status, "invalid_request", error.explanation)
        case .notFound: self.init(.notFound, "not_found", "There is nothing at this path.")
        case .methodNotAllowed(let allowed):
            let names = allowed.map(\.name).joined(separator: ", ")
            self.init(.methodNotAllowed, "method_not_allowed", "This path takes \(names).")
        case .bodyTooLarge(let limit):
            self.init(
                .contentTooLarge, "payload_too_large", "The body is larger than \(limit) bytes.")
        case .timeout:
            self.init(.requestTimeout, "invalid_request", "The request took too long to arrive.")
        case .overloaded(let seconds): self.init(busyFor: .seconds(seconds))
        case .internalError: self = .internalError
        }
    }

    private init(busyFor wait: Duration) {
        self.init(
            .serviceUnavailable, "server_busy",
            "Nothing was changed; wait for the seconds in Retry-After and send the same again.",
            retryAfter: wait)
    }
}
