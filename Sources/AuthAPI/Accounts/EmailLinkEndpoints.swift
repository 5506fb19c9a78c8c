internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/user/password/…` and `/api/user/email/…`: links that are sent by mail.
///
/// Tokens of links are in bodies only, because paths are logged.
struct EmailLinkEndpoints: Sendable {
    let links: EmailLinks
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        [
            pipeline.route(
                .post, "/api/user/password/forgot", body: .json, .none(), requestReset),
            pipeline.route(
                .post, "/api/user/password/reset", body: .json, .none(), resetPassword),
            pipeline.route(
                .post, "/api/user/email/verification", access.session, requestVerification),
            pipeline.route(.post, "/api/user/email/verify", body: .json, .none(), verifyEmail),
        ]
    }

    /// POST /api/user/password/forgot
    private func requestReset(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        try await links.requestReset(
            of: try body.requiredString("email"), by: request.caller)
        return .json(.accepted) { $0.member("message", "sent_if_registered") }
    }

    /// POST /api/user/password/reset
    private func resetPassword(
        _ request: APIRequest<Void>
    ) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        try await links.resetPassword(
            by: try body.requiredString("token"), to: try body.requiredPassword("password"),
            revokesAPITokens: try body.bool("revoke_api_tokens") ?? false, by: request.caller)
        return .json(.ok, headers: access.cookie.cleared) {
            $0.member("message", "password_reset")
        }
    }

    /// POST /api/user/email/verification
    private func requestVerification(
        _ request: APIRequest<AccountsAccess.SessionHolder>
    ) async throws(AccountsError) -> Response {
        try await links.requestVerification(of: request.principal.user, by: request.caller)
        return .json(.accepted) { $0.member("message", "sent") }
    }

    /// POST /api/user/email/verify
    private func verifyEmail(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        try await links.verifyEmail(by: try body.requiredString("token"), by: request.caller)
        return .json(.ok) { $0.member("message", "email_verified") }
    }
}
