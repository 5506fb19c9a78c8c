internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/user/tokens/…`.
struct APITokenEndpoints: Sendable {
    let tokens: APITokens
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        [
            pipeline.route(.get, "/api/user/tokens", access.user(.tokens), list),
            pipeline.route(.post, "/api/user/tokens", body: .json, access.tokenHolder, create),
            pipeline.route(.delete, "/api/user/tokens/{token_id}", access.user(.tokens), revoke),
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
                        member.member("scopes", token.scopeNames)
                    }
                }
            }
        }
    }

    /// POST /api/user/tokens
    ///
    /// Needs no body. In a body `name`, `expires_in` (seconds until the token expires) and `scopes`
    /// are optional.
    private func create(
        _ request: APIRequest<AccountsAccess.TokenHolder>
    ) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>.optional(request.http)
        let issued = try await tokens.create(
            named: try body?.apiTokenName() ?? APIToken.defaultName,
            lifetime: try body?.apiTokenLifetime(), scopes: try body?.apiTokenScopes(),
            from: request.principal.apiToken, for: request.principal.user, by: request.caller)
        return .json(.created) { body in
            body.member("id", issued.token.id.text)
            body.member("name", issued.token.name)
            body.member("token", issued.secret)
            body.member("created_at", issued.token.created.rfc3339)
            body.member("expires_at", issued.token.expiry?.rfc3339)
            body.member("scopes", issued.token.scopeNames)
        }
    }

    /// DELETE /api/user/tokens/{token_id}
    private func revoke(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let id = request.http.parameters["token_id"].flatMap(APITokenID.init)
        try await tokens.revoke(id, of: request.principal, by: request.caller)
        return Response(status: .noContent)
    }
}

extension APIToken {
    /// The scopes in the order in which they are documented.
    fileprivate var scopeNames: [String] {
        Scope.allCases.filter(scopes.contains).map(\.rawValue)
    }
}
