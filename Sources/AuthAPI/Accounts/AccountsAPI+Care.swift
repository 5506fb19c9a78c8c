internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

extension AccountsAPI {
    /// GET /api/accounts/{account_id}
    func showAccount(
        _ request: Request, as identity: Identity, by caller: Caller
    ) async throws -> Response {
        let account = try await auth.account(request.accountReference, for: identity)
        return .json(.ok) { body in
            write(account, role: "user", to: &body)
        }
    }

    /// DELETE /api/accounts/{account_id}
    func deleteAccount(
        _ request: Request, as identity: Identity, by caller: Caller
    ) async throws -> Response {
        try await auth.deleteAccount(request.accountReference, as: identity, by: caller)
        return Response(status: .noContent)
    }

    /// PUT /api/accounts/{account_id}/reset-password
    func resetPassword(
        _ request: Request, as identity: Identity, by caller: Caller
    ) async throws -> Response {
        try request.requireJSON()
        // Who may not is told so before what was sent is looked at.
        _ = try await auth.account(request.accountReference, for: identity)
        let secret = try JSONBody(request).mailboxSecret()
        try await auth.resetPassword(
            of: request.accountReference, to: secret, as: identity, by: caller)
        return .json(.ok) { $0.member("message", "password_reset") }
    }

    /// GET /api/user/accounts?cursor=
    func listAccounts(_ request: Request, of user: User, by caller: Caller) async throws -> Response
    {
        let text = request.query.first { $0.name == "cursor" }?.value ?? ""
        let cursor = AccountCursor(text)
        guard text.isEmpty || cursor != nil else {
            throw Refusal.malformedRequest("`cursor` is not one that this server gave out.")
        }
        let page = try await auth.accounts(of: user, after: cursor)
        return .json(.ok) { body in
            body.array("accounts") { list in
                for account in page.accounts {
                    list.element { write(account, role: nil, to: &$0) }
                }
            }
            body.member("next_cursor", page.next?.text ?? "")
        }
    }

    /// DELETE /api/user/accounts/{account_id}
    func deleteOwnedAccount(
        _ request: Request, of user: User, by caller: Caller
    ) async throws -> Response {
        try await deleteAccount(request, as: .user(user), by: caller)
    }

    /// PUT /api/user/accounts/{account_id}/reset-password
    func resetOwnedPassword(
        _ request: Request, of user: User, by caller: Caller
    ) async throws -> Response {
        try await resetPassword(request, as: .user(user), by: caller)
    }

    private func write(_ account: Account, role: String?, to body: inout JSONWriter) {
        body.member("id", account.id.text)
        body.member("address", account.address.description)
        if let role { body.member("role", role) }
        body.member("quota", account.quota)
        body.member("used", account.used)
        body.member("created_at", account.created.rfc3339)
    }
}

extension Request {
    /// The account that the path names; `nil` for what can name none.
    var accountReference: AccountReference? {
        parameters["account_id"].flatMap(AccountReference.init)
    }
}
