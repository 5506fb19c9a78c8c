internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// Renders the errors of the agent API: `{"error":{"message","hint","docs_url"}}`. A reader needs
/// no other document.
struct AgentErrors: Sendable {
    let publicURL: String

    /// For the errors that the engine answers itself.
    var renderer: ErrorRenderer {
        { error, _ in response(ErrorText(error)) }
    }

    func response(_ error: AgentError) -> Response { response(ErrorText(error)) }

    /// An error of the JMAP endpoints.
    func jmapResponse(
        _ status: Status, _ message: String, hint: String, retryAfter: Duration? = nil
    ) -> Response {
        response(ErrorText(status, message, hint: hint, .jmap, retryAfter: retryAfter))
    }

    private func response(_ error: ErrorText) -> Response {
        var response = Response.json(error.status) { body in
            body.member("error") { members in
                members.member("message", error.message)
                members.member("hint", error.hint)
                members.member("docs_url", "\(publicURL)/llms.txt#\(error.section.rawValue)")
            }
        }
        response.addErrorFields(retryAfter: error.retryAfter)
        return response
    }
}

/// The headings of `/llms.txt` that a `docs_url` may point to, as GitHub-style slugs. A test
/// checks that each heading exists.
enum DocsSection: String, CaseIterable {
    case authFlowReference = "auth-flow-reference"
    case proofOfWork = "proof-of-work"
    case usernames = "usernames"
    case sessionsAndCapabilities = "sessions-and-capabilities"
    case apiKeys = "api-keys"
    case jmap = "jmap"
    case requestFormat = "request-format"
    case limitsAndRetries = "limits-and-retries"
    case endpoints = "endpoints"
}

/// One error of the agent API.
private struct ErrorText {
    let status: Status
    let message: String
    /// How to correct the request and retry.
    let hint: String
    let section: DocsSection
    var retryAfter: Duration?

    fileprivate init(
        _ status: Status, _ message: String, hint: String, _ section: DocsSection,
        retryAfter: Duration? = nil
    ) {
        self.status = status
        self.message = message
        self.hint = hint
        self.section = section
        self.retryAfter = retryAfter
    }

    init(_ error: AgentError) {
        switch error {
        case .invalidChallenge:
            self.init(
                .unauthorized, "Invalid or expired challenge",
                hint: "Request a fresh challenge from POST /api/v1/challenge, solve PoW again, "
                    + "and retry.",
                .authFlowReference)
        case .invalidSession:
            self.init(
                .unauthorized, "Invalid or expired session",
                hint: "Log in again: request a challenge from POST /api/v1/challenge, solve it, "
                    + "and POST /api/v1/session with your apiKey.",
                .sessionsAndCapabilities)
        case .invalidCapability:
            self.init(
                .unauthorized, "Invalid or expired capability",
                hint: "Get a new one from POST /api/v1/capability with your session JWT as bearer, "
                    + "and retry before it expires.",
                .sessionsAndCapabilities)
        case .unknownAPIKey:
            self.init(
                .unauthorized, "Unknown API key",
                hint: "Check the key for missing characters. A key that was replaced, or whose "
                    + "account was deleted or disabled, does not become valid again.",
                .apiKeys)
        case .proofTooEasy(let required, let found):
            self.init(
                .forbidden,
                "Proof of work too easy: \(found) leading zero bits, \(required) needed",
                hint: "Continue with further nonces until the digest has at least \(required) "
                    + "leading zero bits; the challenge is not spent.",
                .proofOfWork)
        case .wrongProof:
            self.init(
                .forbidden, "Proof of work does not match",
                hint: "powHex must be scrypt of `<jti>:<nonce>` salted with the UTF-8 text of the "
                    + "salt, not its decoded bytes. The challenge is spent: request a fresh one "
                    + "from POST /api/v1/challenge.",
                .proofOfWork)
        case .invalidUsername(let rule):
            self.init(
                .badRequest, "Invalid username: \(rule)",
                hint: "Choose 5 to 21 characters of a-z, 0-9, `.`, `_`, `-`, and retry with the "
                    + "same challenge and proof: they are not spent.",
                .usernames)
        case .usernameNotAllowed:
            self.init(
                .badRequest, "Username not allowed",
                hint: "The name is reserved for the operator. Choose another and retry with the "
                    + "same challenge and proof: they are not spent.",
                .usernames)
        case .usernameTaken:
            self.init(
                .conflict, "Username taken",
                hint: "Choose another username, request a fresh challenge from "
                    + "POST /api/v1/challenge, solve it, and retry.",
                .usernames)
        case .subjectNotUnique(let first): self = .noCapabilities(exceptOn: first)
        case .mailStoreMissing:
            self.init(
                .serviceUnavailable, "No mail store is configured",
                hint: "This server issues credentials only. Its operator chooses a mail store with "
                    + "the setting `mail.store`, or connects one with `mail.jmap_url`.",
                .jmap, retryAfter: .seconds(3600))
        case .mailStoreUnavailable: self = .mailStoreUnavailable
        case .common(let error): self.init(error)
        }
    }

    private init(_ error: CommonError) {
        switch error {
        case .malformedRequest(let explanation):
            self.init(
                .badRequest, explanation,
                hint: "Send the JSON body that the reference describes, and retry.",
                .authFlowReference)
        case .unsupportedMediaType(let expected):
            self.init(
                .unsupportedMediaType, "Unsupported Content-Type",
                hint: "Send the body as \(expected) with `Content-Type: \(expected)`.",
                .requestFormat)
        case .rateLimited(let limit):
            self.init(
                .tooManyRequests, "Too many requests",
                hint: "Wait for the seconds in Retry-After, then retry.", .limitsAndRetries,
                retryAfter: limit.retryAfter)
        case .busy(let wait):
            self.init(
                .serviceUnavailable, "The server is busy",
                hint: "Nothing was changed. Wait for the seconds in Retry-After, then send the "
                    + "same request again.",
                .limitsAndRetries, retryAfter: wait)
        case .failed: self = .internalError
        }
    }

    private static func noCapabilities(exceptOn domain: String) -> ErrorText {
        ErrorText(
            .forbidden, "No capabilities for this domain",
            hint: "The mail store of this server knows mailboxes by their local part, so only "
                + "accounts on \(domain) get capabilities. Sign up for one there, or ask the "
                + "operator, who can choose another `mail.subject`.",
            .sessionsAndCapabilities)
    }

    private static let mailStoreUnavailable = ErrorText(
        .serviceUnavailable, "The mail store does not answer",
        hint: "Wait for the seconds in Retry-After, then retry with a capability that is still "
            + "valid. If it remains, tell the operator.",
        .jmap, retryAfter: .seconds(5))

    private static let internalError = ErrorText(
        .internalServerError, "Internal error",
        hint: "This is a fault of the server. Retry later; if it remains, give the operator the "
            + "X-Request-Id of this response.",
        .limitsAndRetries)

    init(_ error: HTTPError) {
        switch error {
        case .malformed(let error):
            self.init(
                error.status, error.explanation,
                hint: "Send a well-formed HTTP/1.1 request on a new connection.", .requestFormat)
        case .notFound:
            self.init(
                .notFound, "Not found", hint: "Check the path against the reference.", .endpoints)
        case .methodNotAllowed(let allowed):
            let names = allowed.map(\.name).joined(separator: ", ")
            self.init(
                .methodNotAllowed, "Method not allowed", hint: "This path takes \(names).",
                .endpoints)
        case .bodyTooLarge(let limit):
            self.init(
                .contentTooLarge, "The body is larger than \(limit) bytes",
                hint: "Send only the members that the reference describes.", .requestFormat)
        case .timeout:
            self.init(
                .requestTimeout, "The request took too long to arrive",
                hint: "Open a new connection and send the whole request at once.",
                .limitsAndRetries)
        case .overloaded(let seconds):
            self.init(
                .serviceUnavailable, "The server has too many connections",
                hint: "Wait for the seconds in Retry-After, then retry.", .limitsAndRetries,
                retryAfter: .seconds(seconds))
        case .internalError: self = .internalError
        }
    }
}
