internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/challenge`, `/api/accounts/…`, `/api/token` and `/api/user/accounts/…`.
struct MailboxEndpoints: Sendable {
    let mailboxes: Mailboxes
    let mail: AccountsMail
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        let mailbox = "/api/accounts/{account_id}"
        let owned = "/api/user/accounts/{account_id}"
        return [
            pipeline.route(.get, "/api/challenge", .none(), issueChallenge),
            pipeline.route(.post, "/api/accounts", body: .json, access.anybody(.accounts), create),
            pipeline.route(.post, "/api/token", body: .json, .none(), logIn),
            pipeline.route(.delete, "/api/token", access.emailToken, logOut),
            pipeline.route(.get, mailbox, access.mailbox, show),
            pipeline.route(.delete, mailbox, access.mailbox, delete),
            pipeline.route(
                .put, mailbox + "/reset-password", body: .json, access.mailbox, resetPassword),
            pipeline.route(.get, "/api/user/accounts", access.user(.accounts), list),
            pipeline.route(.delete, owned, access.ownedMailbox, delete),
            pipeline.route(
                .put, owned + "/reset-password", body: .json, access.ownedMailbox, resetPassword),
        ]
    }

    /// GET /api/challenge
    private func issueChallenge(
        _ request: APIRequest<Void>
    ) async throws(AccountsError) -> Response {
        let issued = try await mailboxes.issueChallenge(to: request.caller)
        return .json(.ok) { body in
            body.member("id", issued.token)
            body.member("salt", issued.challenge.salt)
            body.member("difficulty", issued.challenge.difficulty)
            body.member("expires_at", issued.expiry.seconds)
        }
    }

    /// POST /api/accounts
    ///
    /// The documented order reports an unreadable body before an invalid token.
    private func create(
        _ request: APIRequest<Result<Principal?, AccountsError>>
    ) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let new = Mailboxes.New(
            address: try body.requiredString("address"), secret: try body.mailboxSecret(),
            proof: try proof(in: body))
        let opened = try await mailboxes.create(
            new, as: try request.principal.get(), by: request.caller)
        return response(.created, opened)
    }

    private func proof(
        in body: JSONBody<AccountsError>
    ) throws(AccountsError) -> (challenge: String, proof: Proof)? {
        guard let proof = try body.object("pow") else { return nil }
        let challenge = try proof.requiredString("id")
        let nonce = try proof.requiredString("nonce")
        return (challenge, Proof(nonce: Nonce(nonce, atMost: Nonce.accountBytes)))
    }

    /// POST /api/token
    private func logIn(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let opened = try await mailboxes.logIn(
            address: try body.requiredString("address"), secret: try body.mailboxSecret(),
            by: request.caller)
        return response(.ok, opened)
    }

    /// DELETE /api/token
    private func logOut(
        _ request: APIRequest<AccountsAccess.MailboxSession>
    ) async throws(AccountsError) -> Response {
        try await mailboxes.logOut(
            request.principal.token, of: request.principal.account, by: request.caller)
        return Response(status: .noContent)
    }

    /// GET /api/accounts/{account_id}
    private func show(
        _ request: APIRequest<Mailboxes.Access>
    ) async throws(AccountsError) -> Response {
        let account = request.principal.account
        let used = mail.usedBytes(of: account)
        return .json(.ok) { body in
            write(account, used: used, role: "user", to: &body)
        }
    }

    /// DELETE /api/accounts/{account_id}, DELETE /api/user/accounts/{account_id}
    private func delete(
        _ request: APIRequest<Mailboxes.Access>
    ) async throws(AccountsError) -> Response {
        try await mailboxes.delete(request.principal, by: request.caller)
        return Response(status: .noContent)
    }

    /// PUT /api/accounts/{account_id}/reset-password,
    /// PUT /api/user/accounts/{account_id}/reset-password
    private func resetPassword(
        _ request: APIRequest<Mailboxes.Access>
    ) async throws(AccountsError) -> Response {
        let secret = try JSONBody<AccountsError>(request.http).mailboxSecret()
        try await mailboxes.resetPassword(of: request.principal, to: secret, by: request.caller)
        return .json(.ok) { $0.member("message", "password_reset") }
    }

    /// GET /api/user/accounts?cursor=
    private func list(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let text = request.http.query.first { $0.name == "cursor" }?.value ?? ""
        let cursor = AccountCursor(text)
        guard text.isEmpty || cursor != nil else {
            throw .malformed("`cursor` is not one that this server gave out.")
        }
        let page = try await mailboxes.list(of: request.principal, after: cursor)
        return .json(.ok) { body in
            body.array("accounts") { list in
                for account in page.accounts {
                    let used = mail.usedBytes(of: account)
                    list.element { write(account, used: used, role: nil, to: &$0) }
                }
            }
            body.member("next_cursor", page.next?.text ?? "")
        }
    }

    private func response(_ status: Status, _ opened: Mailboxes.Opened) -> Response {
        .json(status) { body in
            body.member("id", opened.account.id.text)
            body.member("address", opened.account.address.description)
            body.member("token", opened.token)
        }
    }

    private func write(_ account: Account, used: Int64, role: String?, to body: inout JSONWriter) {
        body.member("id", account.id.text)
        body.member("address", account.address.description)
        if let role { body.member("role", role) }
        body.member("quota", account.quota)
        body.member("used", used)
        body.member("created_at", account.created.rfc3339)
    }
}
