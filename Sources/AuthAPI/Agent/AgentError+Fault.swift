internal import HTTPEngine

/// What the engine refuses before a handler sees it, and what is our own fault.
extension AgentError {
    static let unexpected = AgentError(
        status: .internalServerError, message: "Internal error",
        hint: "This is the server's fault. Retry later; if it stays, give the operator the "
            + "X-Request-Id of this answer.",
        anchor: .limitsAndRetries)

    static let notFound = AgentError(
        status: .notFound, message: "Not found",
        hint: "Check the path against the reference.", anchor: .endpoints)

    static let timeout = AgentError(
        status: .requestTimeout, message: "The request took too long to arrive",
        hint: "Open a new connection and send the whole request at once.",
        anchor: .limitsAndRetries)

    static func malformed(_ error: ParseError) -> AgentError {
        AgentError(
            status: error.status, message: error.explanation,
            hint: "Send a well-formed HTTP/1.1 request on a new connection.",
            anchor: .requestFormat)
    }

    static func methodNotAllowed(_ allowed: [Method]) -> AgentError {
        let names = allowed.map(\.name).joined(separator: ", ")
        return AgentError(
            status: .methodNotAllowed, message: "Method not allowed",
            hint: "This path takes \(names).", anchor: .endpoints)
    }

    static func bodyTooLarge(_ limit: Int) -> AgentError {
        AgentError(
            status: .contentTooLarge, message: "The body is larger than \(limit) bytes",
            hint: "Send only the members that the reference describes.", anchor: .requestFormat)
    }

    static func overloaded(_ seconds: Int64) -> AgentError {
        AgentError(
            status: .serviceUnavailable, message: "The server has too many connections",
            hint: "Wait for the seconds in Retry-After, then retry.", anchor: .limitsAndRetries,
            retryAfter: seconds)
    }
}
