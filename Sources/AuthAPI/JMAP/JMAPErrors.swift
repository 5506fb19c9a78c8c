internal import AuthCore
internal import HTTPEngine
internal import JMAP
internal import StrictJSON

/// Why a request to the JMAP endpoints fails.
enum JMAPError: FlowError {
    /// It was not authenticated.
    case agent(AgentError)
    /// None of the method calls are made.
    case request(JMAPRequestError)
    /// The account is not the caller's, or it has no such blob.
    case notFound
    /// There is too much work for all accounts together, or of this client. Nothing was done.
    /// The limit is the one of the session object that keeps others from being that.
    case busy(limit: String, retryAfter: Duration)
    /// The client has as many event sources as it may.
    case tooManyStreams
    /// There is no memory left for mail.
    case noRoom
    case common(CommonError)

    init(_ error: AgentError) {
        if case .common(let common) = error { self = .common(common) } else { self = .agent(error) }
    }

    var isRejectedToken: Bool {
        if case .agent(let error) = self { error.isRejectedToken } else { false }
    }

    var common: CommonError? {
        if case .common(let error) = self { error } else { nil }
    }
}

/// Renders the errors of the JMAP endpoints: those of requests as problem details (RFC 8620
/// §3.6.1), all others in the form of the agent API.
struct JMAPErrors: Sendable {
    let agent: AgentErrors

    /// For the errors that the engine answers itself.
    var renderer: ErrorRenderer {
        { error, context in
            guard case .bodyTooLarge = error else { return agent.renderer(error, context) }
            let isUpload = context.path?.utf8.starts(with: JMAPAPI.uploads.utf8) ?? false
            return Self.problem(
                .limit(isUpload ? "maxSizeUpload" : "maxSizeRequest"), .contentTooLarge)
        }
    }

    func response(_ error: JMAPError) -> Response {
        switch error {
        case .agent(let error): return agent.response(error)
        case .request(let error): return Self.problem(error, .badRequest)
        case .busy(let limit, let retryAfter):
            var response = Self.problem(.limit(limit), .serviceUnavailable)
            response.addErrorFields(retryAfter: retryAfter)
            return response
        case .notFound:
            return agent.jmapResponse(
                .notFound, "No such account or blob",
                hint: "Use the account id of the session object and a blob id of that account. An "
                    + "upload that is in no message is kept for an hour.")
        case .tooManyStreams:
            return agent.jmapResponse(
                .tooManyRequests, "Too many event sources",
                hint: "Close one of your \(MailWork.waitsPerClient) event sources and waits "
                    + "for messages, or share one.", retryAfter: .seconds(5))
        case .noRoom:
            return agent.jmapResponse(
                .serviceUnavailable, "No room for the upload",
                hint: "Destroy messages that you do not need, or retry later: what is in no "
                    + "message is kept for an hour.", retryAfter: .seconds(60))
        case .common(.unsupportedMediaType(let expected)):
            return Self.problem(
                .notJSON("The Content-Type must be \(expected)."), .unsupportedMediaType)
        case .common(let error): return agent.response(.common(error))
        }
    }

    /// RFC 7807.
    private static func problem(_ error: JMAPRequestError, _ status: Status) -> Response {
        let body = JSONWriter.object { body in
            body.member("type", error.type)
            body.member("status", status.code)
            body.member("detail", error.detail)
            if case .limit(let name) = error { body.member("limit", name) }
        }
        return Response(
            status: status,
            headers: [
                ("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"),
            ], body: body)
    }
}
