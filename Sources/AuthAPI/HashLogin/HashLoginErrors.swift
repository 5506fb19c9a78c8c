internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// Renders the errors of the hash-login API: `{"error":"<sentence>"}`, or a page with the same
/// sentence and status.
struct HashLoginErrors: Sendable {
    let pages: HashLoginPages

    /// For the errors that the engine answers itself.
    var renderer: ErrorRenderer {
        { error, context in
            response(
                HashLoginErrorText(error), as: context.headers?.responseFormat ?? .json)
        }
    }

    /// A form that was not accepted is shown again with its input.
    func response(_ error: HashLoginError, to request: Request) -> Response {
        let text = HashLoginErrorText(error)
        let format = request.responseFormat
        guard format == .html, text.status == .unprocessableContent,
            let form = HashLoginPages.Form(path: request.path),
            let fields = try? HashLoginFields(request)
        else { return response(text, as: format) }
        return pages.retry(form, fields, text)
    }

    private func response(_ error: HashLoginErrorText, as format: ResponseFormat) -> Response {
        var response: Response
        switch format {
        case .json:
            response = .json(error.status) { body in
                if error.isAboutValidity { body.member("valid", false) }
                body.member("error", error.sentence)
            }
        case .html: response = pages.failure(error)
        }
        response.addErrorFields(retryAfter: error.retryAfter)
        return response
    }
}

/// One error of the hash-login API.
struct HashLoginErrorText {
    let status: Status
    let sentence: String
    /// The form field that it is about.
    var field: String?
    var retryAfter: Duration?
    /// `/validate` has a member for it.
    var isAboutValidity = false

    private init(
        _ status: Status, _ sentence: String, field: String? = nil, retryAfter: Duration? = nil
    ) {
        self.status = status
        self.sentence = sentence
        self.field = field
        self.retryAfter = retryAfter
    }

    init(_ error: HashLoginError) {
        switch error {
        case .blankEmail: self.init(unprocessable: "Email can't be blank.", "email")
        case .invalidEmail: self.init(unprocessable: "Email is invalid.", "email")
        case .emailTaken: self.init(unprocessable: "Email has already been taken.", "email")
        case .blankPassword: self.init(unprocessable: "Password can't be blank.", "password")
        case .invalidHashURL:
            self.init(unprocessable: "Password hash URL is invalid.", "password_hash_url")
        case .hashUnreachable:
            self.init(unprocessable: "Could not fetch password hash URL.", "password_hash_url")
        case .notAnArgon2Hash:
            self.init(
                unprocessable: "Password hash URL did not return an Argon2 hash.",
                "password_hash_url")
        case .hashMismatch:
            self.init(
                unprocessable: "Password does not match the remote Argon2 hash.", "password")
        case .loginFailed: self.init(unprocessable: "Invalid email or password.", "password")
        case .invalidToken:
            self.init(.unauthorized, "Invalid token.", field: "token")
            isAboutValidity = true
        case .logoutFailed: self.init(.unauthorized, "Invalid token or credentials.")
        case .foreignForm: self.init(.forbidden, "The form was sent by another site.")
        case .foreignHost:
            self.init(.misdirectedRequest, "The pages of this server have another host name.")
        case .common(let error): self.init(error)
        }
    }

    private init(_ error: CommonError) {
        switch error {
        case .malformedRequest(let explanation): self.init(.badRequest, explanation)
        case .unsupportedMediaType(let expected):
            self.init(.unsupportedMediaType, "Send the body as \(expected).")
        case .rateLimited(let limit):
            self.init(
                .tooManyRequests, "Too many requests; wait a moment.",
                retryAfter: limit.retryAfter)
        case .busy(let wait): self.init(busyFor: wait)
        case .failed: self = .internalError
        }
    }

    private static let internalError = HashLoginErrorText(
        .internalServerError, "This is a fault of the server; try again later.")

    init(_ error: HTTPError) {
        switch error {
        case .malformed(let error): self.init(error.status, error.explanation)
        case .notFound: self.init(.notFound, "There is nothing at this path.")
        case .methodNotAllowed(let allowed):
            let names = allowed.map(\.name).joined(separator: ", ")
            self.init(.methodNotAllowed, "This path takes \(names).")
        case .bodyTooLarge(let limit):
            self.init(.contentTooLarge, "The body is larger than \(limit) bytes.")
        case .timeout: self.init(.requestTimeout, "The request took too long to arrive.")
        case .overloaded(let seconds): self.init(busyFor: .seconds(seconds))
        case .internalError: self = .internalError
        }
    }

    private init(busyFor wait: Duration) {
        self.init(
            .serviceUnavailable, "The server is busy; try again in a moment.", retryAfter: wait)
    }

    private init(unprocessable sentence: String, _ field: String) {
        self.init(.unprocessableContent, sentence, field: field)
    }
}
