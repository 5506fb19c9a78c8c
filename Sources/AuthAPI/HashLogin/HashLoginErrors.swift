internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// Renders what goes wrong on the hash-login surface: `{"error":"<sentence>"}`, or a page with the
/// same sentence and status.
struct HashLoginErrors: Sendable {
    let pages: HashLoginPages

    var renderer: ErrorRenderer {
        { error, context in
            answer(HashLoginError(error), as: context.headers?.answerForm ?? .json)
        }
    }

    func render(_ refusal: Refusal, as form: AnswerForm) -> Response {
        answer(HashLoginError(refusal), as: form)
    }

    private func answer(_ error: HashLoginError, as form: AnswerForm) -> Response {
        var response: Response
        switch form {
        case .json:
            response = .json(error.status) { body in
                if error.isAboutValidity { body.member("valid", false) }
                body.member("error", error.sentence)
            }
        case .html: response = pages.failure(error)
        }
        if error.status == .unauthorized { response.headers.append(("WWW-Authenticate", "Bearer")) }
        if let seconds = error.retryAfter {
            response.headers.append(("Retry-After", String(seconds)))
        }
        return response
    }
}

/// One error of the hash-login surface, ready to be written.
struct HashLoginError {
    let status: Status
    let sentence: String
    /// The form field that it is about.
    var field: String?
    var retryAfter: Int64?
    /// `/validate` says so in a member of its own.
    var isAboutValidity = false

    init(_ status: Status, _ sentence: String, field: String? = nil, retryAfter: Int64? = nil) {
        self.status = status
        self.sentence = sentence
        self.field = field
        self.retryAfter = retryAfter
    }

    init(_ refusal: Refusal) {
        switch refusal {
        case .blankEmail: self.init(refused: "Email can't be blank.", "email")
        case .invalidEmail: self.init(refused: "Email is invalid.", "email")
        case .emailTaken: self.init(refused: "Email has already been taken.", "email")
        case .blankPassword: self.init(refused: "Password can't be blank.", "password")
        case .invalidHashURL:
            self.init(refused: "Password hash URL is invalid.", "password_hash_url")
        case .hashUnreachable:
            self.init(refused: "Could not fetch password hash URL.", "password_hash_url")
        case .notAnArgon2Hash:
            self.init(
                refused: "Password hash URL did not return an Argon2 hash.", "password_hash_url")
        case .hashMismatch:
            self.init(refused: "Password does not match the remote Argon2 hash.", "password")
        case .loginFailed: self.init(refused: "Invalid email or password.", "password")
        case .invalidLoginToken:
            self.init(.unauthorized, "Invalid token.", field: "token")
            isAboutValidity = true
        case .logoutFailed: self.init(.unauthorized, "Invalid token or credentials.")
        case .malformedRequest: self.init(.badRequest, "The request body could not be read.")
        case .unsupportedMediaType(let expected):
            self.init(.unsupportedMediaType, "Send the body as \(expected).")
        case .forbidden: self.init(.forbidden, "The form was sent by another site.")
        case .tooManyRequests(let wait, _):
            self.init(
                .tooManyRequests, "Too many requests; wait a moment.",
                retryAfter: wait.retryAfterSeconds)
        case .busy(let wait): self = .busy(after: wait.retryAfterSeconds)
        case .proofRejected, .addressTaken, .invalidChallenge, .invalidSession,
            .invalidCapability, .unknownAPIKey, .invalidUsername, .usernameNotAllowed,
            .mailStoreMissing, .missingToken, .invalidToken, .notFound, .invalidCredentials,
            .invalidAddress, .invalidDomain, .passwordTooShort, .proofRequired,
            .accountLimitReached, .registrationClosed, .tokenLimitReached, .domainLimitReached,
            .domainAlreadyExists, .domainInUse:
            // No use case of this surface refuses so.
            self = .unexpected
        }
    }

    /// What the engine answers itself.
    init(_ error: HTTPError) {
        switch error {
        case .internalError: self = .unexpected
        case .malformed(let error): self.init(error.status, error.explanation)
        case .notFound: self.init(.notFound, "There is nothing at this path.")
        case .methodNotAllowed(let allowed):
            let names = allowed.map(\.name).joined(separator: ", ")
            self.init(.methodNotAllowed, "This path takes \(names).")
        case .bodyTooLarge(let limit):
            self.init(.contentTooLarge, "The body is larger than \(limit) bytes.")
        case .timeout: self.init(.requestTimeout, "The request took too long to arrive.")
        case .overloaded(let seconds): self = .busy(after: Int64(seconds))
        }
    }

    private static let unexpected = HashLoginError(
        .internalServerError, "This is the server's fault; try again later.")

    private static func busy(after seconds: Int64) -> HashLoginError {
        HashLoginError(
            .serviceUnavailable, "The server is busy; try again in a moment.", retryAfter: seconds)
    }

    private init(refused sentence: String, _ field: String) {
        self.init(.unprocessableContent, sentence, field: field)
    }
}
