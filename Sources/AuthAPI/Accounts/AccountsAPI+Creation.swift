internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

extension AccountsAPI {
    /// GET /api/challenge
    func issueChallenge(_ request: Request, by caller: Caller) async throws -> Response {
        let challenge = try await auth.issueChallenge(by: caller)
        return .json(.ok) { body in
            body.member("id", challenge.id)
            body.member("salt", challenge.salt)
            body.member("difficulty", challenge.difficulty)
            body.member("expires_at", challenge.expiry.seconds)
        }
    }

    /// GET /api/domains
    func listSystemDomains(_ request: Request, by caller: Caller) async throws -> Response {
        let domains = try await auth.systemDomains()
        return .json(.ok) { body in
            body.array("domains") { list in
                for (index, domain) in domains.enumerated() {
                    list.element { member in
                        member.member("id", domain.id.text)
                        member.member("domain", domain.name.text)
                        member.member("default", index == 0)
                        member.member("sort_order", index)
                        member.member("pro_only", domain.isProOnly)
                    }
                }
            }
        }
    }

    /// POST /api/accounts
    func createAccount(
        _ request: Request, as identity: Identity, by caller: Caller
    ) async throws -> Response {
        try request.requireJSON()
        let body = try JSONBody(request)
        let new = NewAccount(
            address: try body.requiredString("address"), secret: try body.mailboxSecret(),
            proof: try proof(in: body))
        return opened(
            try await auth.createAccount(new, as: identity, by: caller), status: .created)
    }

    /// POST /api/token
    func login(_ request: Request, by caller: Caller) async throws -> Response {
        try request.requireJSON()
        let body = try JSONBody(request)
        return opened(
            try await auth.login(
                address: try body.requiredString("address"), secret: try body.mailboxSecret(),
                by: caller),
            status: .ok)
    }

    private func opened(_ open: OpenAccount, status: Status) -> Response {
        .json(status) { body in
            body.member("id", open.account.id.text)
            body.member("address", open.account.address.description)
            body.member("token", open.token)
        }
    }

    private func proof(in body: JSONBody) throws(Refusal) -> NewAccount.ClaimedProof? {
        guard let proof = try body.object("pow") else { return nil }
        return NewAccount.ClaimedProof(
            challenge: try proof.requiredString("id"), nonce: try proof.requiredString("nonce"))
    }
}
