internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// Renders what goes wrong on the accounts surface: `{"error":"<code>","message":"<sentence>"}`.
/// Clients read only the code.
struct AccountsErrors: Sendable {
    /// Renders what the engine answers itself.
    var renderer: ErrorRenderer {
        { error, _ in
            switch error {
            case .internalError: answer(.unexpected)
            case .malformed(let error):
                answer(AccountsError(error.status, "invalid_request", error.explanation))
            case .notFound:
                answer(AccountsError(.notFound, "not_found", "There is nothing at this path."))
            case .methodNotAllowed(let allowed):
                answer(.methodNotAllowed(allowed))
            case .bodyTooLarge(let limit):
                answer(
                    AccountsError(
                        .contentTooLarge, "payload_too_large",
                        "The body is larger than \(limit) bytes."))
            case .timeout:
                answer(
                    AccountsError(
                        .requestTimeout, "invalid_request", "The request took too long to arrive."))
            case .overloaded(let seconds): answer(.busy(after: Int64(seconds)))
            }
        }
    }

    func render(_ refusal: Refusal) -> Response { answer(AccountsError(refusal)) }

    private func answer(_ error: AccountsError) -> Response {
        var headers: [(String, String)] = []
        if error.status == .unauthorized { headers.append(("WWW-Authenticate", "Bearer")) }
        if let seconds = error.retryAfter { headers.append(("Retry-After", String(seconds))) }
        return .json(error.status, headers: headers) { body in
            body.member("error", error.code)
            body.member("message", error.message)
        }
    }
}

/// One error of the accounts surface, ready to be written.
struct AccountsError {
    let status: Status
    let code: String
    let message: String
    var retryAfter: Int64?

    init(_ status: Status, _ code: String, _ message: String, retryAfter: Int64? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    static let unexpected = AccountsError(
        .internalServerError, "internal_error", "This is the server's fault; try again later.")

    static func methodNotAllowed(_ allowed: [Method]) -> AccountsError {
        let names = allowed.map(\.name).joined(separator: ", ")
        return AccountsError(.methodNotAllowed, "method_not_allowed", "This path takes \(names).")
    }

    static func busy(after seconds: Int64) -> AccountsError {
        AccountsError(
            .serviceUnavailable, "server_busy",
            "Nothing was done; wait for the seconds in Retry-After and send the same again.",
            retryAfter: seconds)
    }
}
