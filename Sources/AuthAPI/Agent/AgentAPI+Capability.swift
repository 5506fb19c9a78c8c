internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

extension AgentAPI {
    /// POST /api/v1/capability
    func issueCapability(_ request: Request, by caller: Caller) async throws -> Response {
        let session = try await auth.admit(session: request.bearerToken, at: caller.now)
        let capability = try await auth.issueCapability(for: session, at: caller.now)
        let seconds = capability.lifetime.components.seconds
        return answer(.ok, token: capability.token, next: capabilitySteps(seconds)) { body in
            body.member("expiresIn", seconds)
        }
    }

    private func capabilitySteps(_ seconds: Int64) -> [String] {
        [
            "Take the capability JWT from this answer's Authorization header; it is valid for "
                + "\(seconds) seconds",
            "GET \(publicURL)/.well-known/jmap with it as bearer to find apiUrl and your "
                + "accountId",
            "Use it as bearer for JMAP requests to apiUrl, and ask for a new one before it expires",
        ]
    }
}
