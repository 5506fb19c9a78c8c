internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

extension AgentAPI {
    /// POST /api/v1/api-key
    func renewAPIKey(_ request: Request, by caller: Caller) async throws -> Response {
        let session = try await auth.admit(session: request.bearerToken, at: caller.now)
        let apiKey = try await auth.renewAPIKey(of: session, by: caller)
        return answer(.ok, next: renewalSteps) { body in
            body.member("apiKey", apiKey.secret)
        }
    }

    /// DELETE /api/v1/account
    func deleteAccount(_ request: Request, by caller: Caller) async throws -> Response {
        let session = try await auth.admit(session: request.bearerToken, at: caller.now)
        try await auth.deleteAccount(of: session, by: caller)
        return Response(status: .noContent)
    }

    private var renewalSteps: [String] {
        [
            "Store apiKey now: it is shown this once, and the old key and every session are dead",
            "POST \(publicURL)/api/v1/challenge, solve it, and log in with the new key",
        ]
    }
}
