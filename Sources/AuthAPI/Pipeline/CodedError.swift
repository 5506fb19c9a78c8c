internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// One error as `{"error":"<code>","message":"<sentence>"}`: the form of the accounts API and the
/// services API.
struct CodedError {
    let status: Status
    let code: String
    let message: String
    var retryAfter: Duration?

    init(
        _ status: Status, _ code: String, _ message: String, retryAfter: Duration? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    /// - Parameter challenge: the value of `WWW-Authenticate` of a 401.
    func response(challenge: String = "Bearer") -> Response {
        var response = Response.json(status) { body in
            body.member("error", code)
            body.member("message", message)
        }
        response.addErrorFields(retryAfter: retryAfter, challenge: challenge)
        return response
    }

    init(_ error: CommonError) {
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

    private static let internalError = CodedError(
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
