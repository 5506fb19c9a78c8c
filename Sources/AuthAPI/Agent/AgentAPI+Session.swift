internal import AuthCore
internal import Cryptography
internal import HTTPEngine
internal import StrictJSON

extension AgentAPI {
    /// POST /api/v1/session
    func openSession(_ request: Request, by caller: Caller) async throws -> Response {
        try request.requireJSON()
        let challenge = try await auth.admit(challenge: request.bearerToken, at: caller.now)
        let opening = try SessionOpening(request)
        switch opening.who {
        case .newcomer(let username):
            let (session, apiKey) = try await auth.signup(
                username, challenge: challenge, proof: opening.proof, by: caller)
            return answer(.created, token: session.token, next: signupSteps) { body in
                body.member("apiKey", apiKey.secret)
                write(session.account, to: &body)
            }
        case .member(let apiKey):
            let session = try await auth.login(
                apiKey, challenge: challenge, proof: opening.proof, by: caller)
            return answer(.ok, token: session.token, next: sessionSteps) { body in
                write(session.account, to: &body)
            }
        }
    }

    private func write(_ account: Account, to body: inout JSONWriter) {
        body.member("inbox", account.address.description)
        body.member("accountId", account.id.text)
    }

    private var signupSteps: [String] {
        ["Store apiKey now: it is shown this once and opens the mailbox from now on"]
            + sessionSteps
    }

    var sessionSteps: [String] {
        [
            "Take the session JWT from this answer's Authorization header; it is valid for an hour",
            "POST \(publicURL)/api/v1/capability with it as bearer to get a capability JWT",
        ]
    }
}

/// The body of POST /api/v1/session.
private struct SessionOpening {
    enum Who {
        case newcomer(Username)
        case member(APIKey)
    }

    let who: Who
    let proof: Proof

    init(_ request: Request) throws(Refusal) {
        let body = try JSONBody(request)
        proof = Proof(nonce: try Self.nonce(in: body), digest: try Self.digest(in: body))
        switch (try body.string("username"), try body.string("apiKey")) {
        case (let name?, nil): who = .newcomer(try Username(parsing: name))
        case (nil, let key?):
            guard let key = APIKey(presented: key) else { throw .unknownAPIKey }
            who = .member(key)
        default:
            throw .malformedRequest(
                "Send exactly one of `username` (to sign up) and `apiKey` (to log in).")
        }
    }

    private static func digest(in body: JSONBody) throws(Refusal) -> [UInt8] {
        let text = try body.requiredString("powHex")
        guard text.utf8.count == 128, let digest = Hex.decode(text.utf8) else {
            throw .malformedRequest("`powHex` must be the 64-byte digest as 128 hex digits.")
        }
        return digest
    }

    private static func nonce(in body: JSONBody) throws(Refusal) -> Nonce {
        switch body.value("nonce") {
        case nil: throw .malformedRequest("`nonce` is missing.")
        case .integer(let number): return Nonce(number)
        case .unsigned(let number): return Nonce(number)
        case .string(let text):
            if let nonce = Nonce(text) { return nonce }
            fallthrough
        default:
            throw .malformedRequest(
                "`nonce` must be a string of 1 to 64 printable ASCII characters, or a 64-bit "
                    + "integer.")
        }
    }
}
