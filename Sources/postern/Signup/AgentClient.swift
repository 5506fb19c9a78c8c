internal import AuthCore
internal import Cryptography
internal import Fetching
internal import StrictJSON

/// The agent's side of the agent surface, against one server.
///
/// Answers of 429 and 503 are tried again when the server says, a bounded number of times.
struct AgentClient: Sendable {
    static let attempts = 5
    /// No longer than this at once, whatever the server says.
    static let longestPause = Duration.seconds(60)

    let server: BaseURL
    let send: @Sendable (OutboundRequest) async throws -> FetchedResponse
    var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    func challenge() async throws -> ServerChallenge {
        let answer = try await call(.post, "/api/v1/challenge")
        return try ServerChallenge(
            token: try answer.token(), pow: answer.body["pow"]?.object)
    }

    /// Signs up with a solved challenge.
    func signup(
        _ username: String, challenge: ServerChallenge, solution: Solution
    ) async throws -> (session: String, enrolment: Enrolment) {
        let body = JSONWriter.object {
            $0.member("powHex", Hex.encode(solution.digest))
            $0.member("nonce", solution.nonce.text)
            $0.member("username", username)
        }
        let answer = try await call(
            .post, "/api/v1/session", bearer: challenge.token, json: body)
        let enrolment = Enrolment(
            inbox: try answer.string("inbox"), accountID: try answer.string("accountId"),
            apiKey: try answer.string("apiKey"))
        return (try answer.token(), enrolment)
    }

    func capability(session: String) async throws -> String {
        try await call(.post, "/api/v1/capability", bearer: session).token()
    }

    func mailStore(capability: String) async throws -> MailStore {
        let answer = try await call(.get, "/.well-known/jmap", bearer: capability)
        let primary = answer.body["primaryAccounts"]?.object
        return MailStore(
            apiURL: try answer.string("apiUrl"),
            accountID: primary?["urn:ietf:params:jmap:mail"]?.string)
    }

    private func call(
        _ method: OutboundRequest.Method, _ path: String, bearer: String? = nil,
        json: [UInt8] = []
    ) async throws -> Answer {
        var headers: [(name: String, value: String)] = [
            ("Accept", "application/json"), ("User-Agent", "postern/\(Version.text)"),
        ]
        if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
        if !json.isEmpty { headers.append(("Content-Type", "application/json")) }
        let request = OutboundRequest(
            method, server.text + path, headers: headers, body: json, timeout: .seconds(30))
        var attempt = 1
        while true {
            let response = try await answer(to: request)
            let isTemporary = response.status == 429 || response.status == 503
            guard isTemporary, attempt < Self.attempts else { return try Answer(response) }
            try await pause(Self.retryPause(response))
            attempt += 1
        }
    }

    private func answer(to request: OutboundRequest) async throws -> FetchedResponse {
        do {
            return try await send(request)
        } catch let fault as FetchFault {
            throw ServerUnreachable(url: request.url, fault: fault)
        }
    }

    private static func retryPause(_ response: FetchedResponse) -> Duration {
        let seconds = response.header("Retry-After").flatMap { UInt32($0) } ?? 1
        return min(max(.seconds(1), .seconds(seconds)), longestPause)
    }
}

/// There was no answer at all.
struct ServerUnreachable: Error, Equatable, CustomStringConvertible {
    let url: String
    let fault: FetchFault

    var description: String { "\(url): \(fault)" }
}

/// What a signup gives.
struct Enrolment: Equatable, Sendable, CustomStringConvertible {
    let inbox: String
    let accountID: String
    let apiKey: String

    var description: String { "\(inbox), API key <redacted>" }
}

/// Where the mail is, from the JMAP session object (RFC 8620 §2).
struct MailStore: Equatable, Sendable {
    let apiURL: String
    let accountID: String?
}
