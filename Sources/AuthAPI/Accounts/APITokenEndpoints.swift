internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/user/tokens/…`.
struct APITokenEndpoints: Sendable {
    private static let defaultName = "API token"

    let tokens: APITokens
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        [
            pipeline.route(.get, "/api/user/tokens", access.user, list),
            pipeline.route(.post, "/api/user/tokens", body: .json, access.user, create),
            pipeline.route(.delete, "/api/user/tokens/{token_id}", access.user, revoke),
        ]
    }

    /// GET /api/user/tokens
    private func list(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let tokens = try await tokens.list(of: request.principal)
        return .json(.ok) { body in
            body.array("tokens") { list in
                for token in tokens {
                    list.element { member in
                        member.member("id", token.id.text)
                        member.member("name", token.name)
                        member.member("created_at", token.created.rfc3339)
                        member.member("last_used_at", token.lastUsed?.rfc3339)
                        member.member("revoked_at", token.revoked?.rfc3339)
                        member.member("expires_at", token.expiry?.rfc3339)
                    }
                }
            }
        }
    }

    /// POST /api/user/tokens
    ///
    /// Needs no body, so a body that is not a JSON object is ignored. In an object, `name` and
    /// `expires_in` (seconds until the token expires) are optional.
    private func create(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let body = try? JSONBody<AccountsError>(request.http)
        let name = try body?.string("name") ?? Self.defaultName
        guard (1...APIToken.maximumNameBytes).contains(name.utf8.count) else {
            throw .malformed("`name` must have 1 to \(APIToken.maximumNameBytes) bytes.")
        }
        let issued = try await tokens.create(
            named: name, lifetime: try lifetime(in: body), for: request.principal,
            by: request.caller)
        return .json(.created) { body in
            body.member("id", issued.token.id.text)
            body.member("name", issued.token.name)
            body.member("token", issued.secret)
            body.member("created_at", issued.token.created.rfc3339)
            body.member("expires_at", issued.token.expiry?.rfc3339)
        }
    }

    private func lifetime(
        in body: JSONBody<AccountsError>?
    ) throws(AccountsError) -> Duration? {
        switch body?.value("expires_in") {
        case nil: return nil
        case .integer(let seconds) where (60...315_360_000).contains(seconds):
            return .seconds(seconds)
        default: throw .malformed("`expires_in` must be 60 to 315,360,000 seconds.")
        }
    }

    /// DELETE /api/user/tokens/{token_id}
    private func revoke(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let id = request.http.parameters["token_id"].flatMap(APITokenID.init)
        try await tokens.revoke(id, of: request.principal, by: request.caller)
        return Response(status: .noContent)
    }
}
