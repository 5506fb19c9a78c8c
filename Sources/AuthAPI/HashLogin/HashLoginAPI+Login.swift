internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

extension HashLoginAPI {
    /// POST /register
    func register(_ request: Request, by caller: Caller) async throws -> Response {
        let fields = try HashLoginFields(request)
        return try await answered(request, fields, form: .registration) {
            let login = try await auth.register(
                email: fields["email"], url: fields["password_hash_url"],
                password: fields.password, by: caller)
            guard request.answerForm == .json else { return pages.registered(login) }
            return .json(.created) { body in
                body.member("email", login.email.text)
                body.member("password_hash_url", login.url.text)
            }
        }
    }

    /// POST /login
    func login(_ request: Request, by caller: Caller) async throws -> Response {
        let fields = try HashLoginFields(request)
        return try await answered(request, fields, form: .login) {
            let open = try await auth.login(
                email: fields["email"], password: fields.password, by: caller)
            guard request.answerForm == .json else { return pages.loggedIn(open) }
            return .json(.ok) { body in
                body.member("token", open.token)
                body.member("token_type", "Bearer")
                body.member("email", open.email.text)
            }
        }
    }

    /// POST /validate
    func validate(_ request: Request, by caller: Caller) async throws -> Response {
        let fields = try HashLoginFields(request, isOptional: true)
        let valid = try await auth.validate(
            fields["token"] ?? request.bearerToken, at: caller.now)
        guard request.answerForm == .json else { return pages.valid(valid) }
        return .json(.ok) { body in
            body.member("valid", true)
            body.member("payload") { payload in
                payload.member("sub", valid.email.text)
                payload.member("email", valid.email.text)
                payload.member("iss", valid.issuer)
                payload.member("iat", valid.issued.seconds)
                payload.member("exp", valid.expiry.seconds)
                payload.member("ver", valid.credentialVersion)
            }
        }
    }

    /// DELETE /logout, POST /logout
    func logout(_ request: Request, by caller: Caller) async throws -> Response {
        let fields = try HashLoginFields(request, isOptional: true)
        let email = try await auth.logout(
            token: fields["token"] ?? request.bearerToken, email: fields["email"],
            password: fields.password, by: caller)
        guard request.answerForm == .json else { return pages.loggedOut(email) }
        return .json(.ok) { body in
            body.member("success", true)
            body.member("email", email.text)
        }
    }

    /// GET /
    func home(_ request: Request, by caller: Caller) async throws -> Response {
        let key = try await keys.publishedSigner(.login, at: caller.now)
        return pages.home(publicKey: key?.pem ?? "")
    }

    /// GET /style.css
    func stylesheet(_ request: Request, by caller: Caller) async throws -> Response {
        pages.stylesheet
    }

    /// GET /example.txt: an Argon2id hash of `test123`, to try registration with.
    func example(_ request: Request, by caller: Caller) async throws -> Response {
        .text(Self.exampleHash + "\n")
    }

    static let exampleHash =
        "$argon2id$v=19$m=19456,t=2,p=1$cG9zdGVybi1leGFtcGxlIQ$"
        + "wqtLNz3vyNNqZLPnNBLVOCiUCbPP0NKqdmv5DXQJT6M"

    /// Shows a form that was refused again, with what was typed and what is wrong with it.
    private func answered(
        _ request: Request, _ fields: HashLoginFields, form: HashLoginPages.Form,
        _ body: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await body()
        } catch {
            guard request.answerForm == .html, let refusal = Refusal(error) else {
                throw error
            }
            let failure = HashLoginError(refusal)
            guard failure.status == .unprocessableContent else { throw error }
            return pages.retry(form, fields, failure)
        }
    }
}
