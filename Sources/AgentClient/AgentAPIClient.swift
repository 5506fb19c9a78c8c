public import AuthCore
internal import Cryptography
public import Fetching
internal import Platform
internal import StrictJSON

/// A client of the agent API of one server.
///
/// A request that is answered 429 or 503 is repeated after the `Retry-After` of the response, at
/// most ``attempts`` times in all.
public struct AgentAPIClient: Sendable {
    static let attempts = 5
    /// The longest pause before a request is repeated, whatever the server asks for.
    static let longestPause = Duration.seconds(60)

    let server: BaseURL
    let send: @Sendable (OutboundRequest) async throws -> FetchedResponse
    private let pause: @Sendable (Duration) async throws -> Void

    public init(
        server: BaseURL,
        send: @escaping @Sendable (OutboundRequest) async throws -> FetchedResponse,
        pause: @escaping @Sendable (Duration) async throws -> Void = {
            try await Task.sleep(for: $0)
        }
    ) {
        self.server = server
        self.send = send
        self.pause = pause
    }

    func challenge() async throws -> ServerChallenge {
        let success = try await call(.post, "/api/v1/challenge")
        return try ServerChallenge(token: try success.token(), pow: success.body["pow"]?.object)
    }

    /// Signs up with a solved challenge.
    func signup(
        _ username: String, challenge: ServerChallenge, solution: Solution
    ) async throws -> (session: String, account: NewAccount) {
        let body = JSONWriter.object {
            $0.member("powHex", Hex.encode(solution.digest))
            $0.member("nonce", solution.nonce.text)
            $0.member("username", username)
        }
        let success = try await call(
            .post, "/api/v1/session", bearer: challenge.token, json: body)
        let account = NewAccount(
            inbox: try success.string("inbox"), accountID: try success.string("accountId"),
            apiKey: try success.string("apiKey"))
        return (try success.token(), account)
    }

    func capability(session: String) async throws -> String {
        try await call(.post, "/api/v1/capability", bearer: session).token()
    }

    func mailServer(capability: String) async throws -> MailServer {
        let success = try await call(.get, "/.well-known/jmap", bearer: capability)
        let primary = success.body["primaryAccounts"]?.object
        return MailServer(
            apiURL: try success.string("apiUrl"),
            accountID: primary?["urn:ietf:params:jmap:mail"]?.string)
    }

    private func call(
        _ method: OutboundRequest.Method, _ path: String, bearer: String? = nil,
        json: [UInt8] = []
    ) async throws -> Success {
        var headers: [(name: String, value: String)] = [
            ("Accept", "application/json"), ("User-Agent", "postern/\(Process.version)"),
        ]
        if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
        if !json.isEmpty { headers.append(("Content-Type", "application/json")) }
        let request = OutboundRequest(
            method, server.text + path, headers: headers, body: json, timeout: .seconds(30))
        var attempt = 1
        while true {
            let response = try await response(to: request)
            let isTemporary = response.status == 429 || response.status == 503
            guard isTemporary, attempt < Self.attempts else { return try Success(response) }
            try await pause(Self.retryPause(response))
            attempt += 1
        }
    }

    private func response(to request: OutboundRequest) async throws -> FetchedResponse {
        do {
            return try await send(request)
        } catch let fault as OutboundError {
            throw ServerUnreachable(url: request.url, fault: fault)
        }
    }

    private static func retryPause(_ response: FetchedResponse) -> Duration {
        let seconds = response.header("Retry-After").flatMap { UInt32($0) } ?? 1
        return min(max(.seconds(1), .seconds(seconds)), longestPause)
    }
}

/// A response of the agent API with a 2xx status.
private struct Success {
    let body: JSONObject
    private let response: FetchedResponse

    /// - Throws: ``ErrorResponse`` for any other status, and for a body that is not a JSON object.
    init(_ response: FetchedResponse) throws {
        guard (200..<300).contains(response.status) else { throw ErrorResponse(response) }
        guard let body = (try? JSONValue.parse(response.body))?.object else {
            throw ErrorResponse.unexpected(response)
        }
        self.body = body
        self.response = response
    }

    /// The token of the `Authorization` header.
    func token() throws -> String {
        let scheme = "Bearer "
        guard let value = response.header("Authorization"),
            value.utf8.starts(with: scheme.utf8)
        else { throw ErrorResponse.unexpected(response) }
        return String(Substring(value.utf8.dropFirst(scheme.utf8.count)))
    }

    func string(_ name: String) throws -> String {
        guard let text = body.present(name)?.string else {
            throw ErrorResponse.unexpected(response)
        }
        return text
    }
}

/// An error response with the server's explanation, in which control characters are escaped.
public struct ErrorResponse: Error, Equatable, CustomStringConvertible {
    let status: Int
    let message: String
    var hint: String?
    var documentation: String?

    /// Reads an error of the agent API. If the body has another form, there is no explanation.
    init(_ response: FetchedResponse) {
        let error = (try? JSONValue.parse(response.body))?.object?["error"]?.object
        status = response.status
        message = (error?["message"]?.string ?? "no explanation").printable()
        hint = error?["hint"]?.string?.printable()
        documentation = error?["docs_url"]?.string?.printable()
    }

    private init(status: Int, message: String, hint: String) {
        self.status = status
        self.message = message
        self.hint = hint
    }

    static func unexpected(_ response: FetchedResponse) -> ErrorResponse {
        ErrorResponse(
            status: response.status, message: "the response is not one of the agent API",
            hint: "Check that --server is the base URL of a mail-auth server.")
    }

    public var description: String {
        var lines = ["the server answered \(status): \(message)"]
        if let hint { lines.append("  hint: \(hint)") }
        if let documentation { lines.append("  see:  \(documentation)") }
        return lines.joined(separator: "\n")
    }
}

/// No response arrived.
struct ServerUnreachable: Error, Equatable, CustomStringConvertible {
    let url: String
    let fault: OutboundError

    var description: String { "\(url): \(fault)" }
}

/// The account that a signup has created. Its description does not contain the API key.
public struct NewAccount: Equatable, Sendable, CustomStringConvertible {
    let inbox: String
    let accountID: String
    let apiKey: String

    public var description: String { "\(inbox), API key <redacted>" }
}

/// The mail server of an account, from the JMAP session object (RFC 8620 §2).
struct MailServer: Equatable, Sendable {
    let apiURL: String
    let accountID: String?
}
