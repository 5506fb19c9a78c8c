internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

extension AccountsAPI {
    private static let defaultTokenName = "API token"

    /// GET /api/user/tokens
    func listTokens(_ request: Request, of user: User, by caller: Caller) async throws -> Response {
        let tokens = try await auth.apiTokens(of: user)
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
    /// Needs no body, so whatever cannot be read as one is ignored; what can be read counts:
    /// `name`, and `expires_in` in seconds for a token that ends by itself.
    func makeToken(_ request: Request, of user: User, by caller: Caller) async throws -> Response {
        let body = try? JSONBody(request)
        let name = try body?.string("name") ?? Self.defaultTokenName
        guard (1...AccountsAuth.maximumTokenNameOctets).contains(name.utf8.count) else {
            throw Refusal.malformedRequest("`name` must have 1 to 200 bytes.")
        }
        let issued = try await auth.makeAPIToken(
            named: name, expiry: try expiry(in: body, at: caller.now), for: user, by: caller)
        return .json(.created) { body in
            body.member("id", issued.token.id.text)
            body.member("name", issued.token.name)
            body.member("token", issued.secret)
            body.member("created_at", issued.token.created.rfc3339)
            body.member("expires_at", issued.token.expiry?.rfc3339)
        }
    }

    /// DELETE /api/user/tokens/{token_id}
    func revokeToken(_ request: Request, of user: User, by caller: Caller) async throws -> Response
    {
        guard let id = request.parameters["token_id"].flatMap(APITokenID.init) else {
            throw Refusal.notFound
        }
        try await auth.revokeAPIToken(id, of: user, by: caller)
        return Response(status: .noContent)
    }

    private func expiry(in body: JSONBody?, at now: Instant) throws(Refusal) -> Instant? {
        switch body?.value("expires_in") {
        case nil: return nil
        case .integer(let seconds) where (60...315_360_000).contains(seconds):
            return now.advanced(by: .seconds(seconds))
        default:
            throw .malformedRequest("`expires_in` must be 60 to 315,360,000 seconds.")
        }
    }
}
