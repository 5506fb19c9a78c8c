internal import AuthCore
internal import HTTPEngine

/// Renders errors for mail stores and proxies.
struct ServicesErrors: Sendable {
    /// For the errors that the engine answers itself.
    var renderer: ErrorRenderer {
        { error, _ in CodedError(error).response() }
    }

    func response(_ error: ServicesError) -> Response {
        let challenge =
            switch error {
            case .wrongSecret: "Basic realm=\"services\""
            case .invalidCredentials: "Basic realm=\"mail\""
            default: "Bearer"
            }
        return CodedError(error).response(challenge: challenge)
    }

    /// An error of `/forward-auth`: 401, 403 or 503, because proxies treat any other status as
    /// their own fault. 503 is for errors that may pass later.
    func forwardAuth(_ error: ServicesError) -> Response {
        if case .wrongSecret = error { return response(error) }
        var coded = CodedError(error)
        if coded.status != .unauthorized && coded.status != .forbidden {
            coded = CodedError(
                .serviceUnavailable, coded.code, coded.message,
                retryAfter: coded.retryAfter ?? .seconds(1))
        }
        return coded.response(challenge: "Bearer, Basic realm=\"mail\"")
    }

    /// An error of `/nginx-mail-auth`: 200, because nginx shows clients `Auth-Status` only then.
    func mailAuth(_ error: ServicesError) -> Response {
        switch error {
        case .wrongSecret: response(error)
        case .common(.busy), .common(.failed):
            MailAuthAnswer.unavailable("Temporary server problem, try again later")
        case .common(.rateLimited(let limit)): MailAuthAnswer.denied(after: limit.retryAfter)
        default: MailAuthAnswer.denied(after: .zero)
        }
    }
}

extension CodedError {
    fileprivate init(_ error: ServicesError) {
        switch error {
        case .wrongSecret:
            self.init(
                .unauthorized, "unauthorized",
                "Send the services secret, for example as `X-Services-Secret`.")
        case .fromPage:
            self.init(.forbidden, "forbidden", "Pages in browsers cannot ask.")
        case .missingToken:
            self.init(
                .unauthorized, "unauthorized", "Send a token as `Authorization: Bearer …`.")
        case .invalidToken:
            self.init(
                .unauthorized, "invalid_or_expired_token",
                "The token is invalid or no longer valid.")
        case .invalidCredentials:
            self.init(
                .unauthorized, "invalid_credentials", "The address or the password is wrong.")
        case .disabled:
            self.init(.forbidden, "disabled", "The operator has disabled the account.")
        case .subjectNotUnique(let first):
            self.init(
                .forbidden, "forbidden",
                "The mail store knows mailboxes by their local part, so only accounts on \(first) "
                    + "can use it.")
        case .common(let error): self.init(error)
        }
    }
}
