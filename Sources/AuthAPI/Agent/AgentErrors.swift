internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// Renders what goes wrong on the agents' surface: `{"error":{"message","hint","docs_url"}}`, for
/// a reader that knows nothing else.
struct AgentErrors: Sendable {
    let publicURL: String

    /// Renders what the engine answers itself.
    var renderer: ErrorRenderer {
        { error, _ in
            switch error {
            case .internalError: answer(.unexpected)
            case .malformed(let error): answer(.malformed(error))
            case .notFound: answer(.notFound)
            case .methodNotAllowed(let allowed): answer(.methodNotAllowed(allowed))
            case .bodyTooLarge(let limit): answer(.bodyTooLarge(limit))
            case .timeout: answer(.timeout)
            case .overloaded(let seconds): answer(.overloaded(Int64(seconds)))
            }
        }
    }

    func render(_ refusal: Refusal) -> Response {
        answer(AgentError(refusal, publicURL: publicURL))
    }

    private func answer(_ error: AgentError) -> Response {
        var headers: [(String, String)] = []
        if error.status == .unauthorized { headers.append(("WWW-Authenticate", "Bearer")) }
        if let seconds = error.retryAfter { headers.append(("Retry-After", String(seconds))) }
        return .json(error.status, headers: headers) { body in
            body.member("error") { members in
                members.member("message", error.message)
                members.member("hint", error.hint)
                members.member("docs_url", "\(publicURL)/llms.txt#\(error.anchor.rawValue)")
            }
        }
    }
}

/// One error of the agents' surface, ready to be written.
struct AgentError {
    let status: Status
    let message: String
    /// How to mend it and try again.
    let hint: String
    let anchor: LLMsText.Anchor
    var retryAfter: Int64?
}
