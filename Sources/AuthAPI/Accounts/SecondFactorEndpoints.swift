internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/user/totp`, `/api/user/recovery-codes` and `/api/user/login/second`.
struct SecondFactorEndpoints: Sendable {
    private static let totp = "/api/user/totp"

    let factors: SecondFactors
    /// A text as a QR code in SVG; `nil` where that cannot be made.
    let qrCode: @Sendable (String) -> String?
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        let recent = access.recentLogin
        return [
            pipeline.route(.get, Self.totp, access.session, show),
            pipeline.route(.post, Self.totp, recent, begin),
            pipeline.route(.post, Self.totp + "/confirm", body: .json, recent, confirm),
            pipeline.route(.delete, Self.totp, recent, remove),
            pipeline.route(.post, "/api/user/recovery-codes", recent, replaceCodes),
            pipeline.route(.post, "/api/user/login/second", body: .json, .none(), logIn),
        ]
    }

    private typealias UserRequest = APIRequest<AccountsAccess.SessionHolder>

    /// GET /api/user/totp
    private func show(_ request: UserRequest) async throws(AccountsError) -> Response {
        let factors = try await factors.factors(of: request.principal.user)
        return .json(.ok) { body in
            body.member("enabled", factors.totpCreated != nil)
            body.member("created_at", factors.totpCreated?.rfc3339)
            body.member("recovery_codes_left", factors.recoveryCodes)
        }
    }

    /// POST /api/user/totp
    private func begin(_ request: UserRequest) async throws(AccountsError) -> Response {
        let enrolment = try await factors.begin(
            for: request.principal.user, by: request.caller)
        let image = qrCode(enrolment.uri)
        return .json(.ok) { body in
            body.member("enrolment", enrolment.token)
            body.member("expires_in", enrolment.lifetime.components.seconds)
            body.member("secret", enrolment.secret)
            body.member("uri", enrolment.uri)
            body.member("svg", image)
        }
    }

    /// POST /api/user/totp/confirm
    private func confirm(_ request: UserRequest) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        return Self.response(
            .created,
            try await factors.confirm(
                try body.requiredString("code"), answering: try body.requiredString("enrolment"),
                of: request.principal.user, in: request.principal.session, by: request.caller))
    }

    /// DELETE /api/user/totp
    private func remove(_ request: UserRequest) async throws(AccountsError) -> Response {
        try await factors.remove(
            of: request.principal.user, in: request.principal.session, by: request.caller)
        return Response(status: .noContent)
    }

    /// POST /api/user/recovery-codes
    private func replaceCodes(_ request: UserRequest) async throws(AccountsError) -> Response {
        Self.response(
            .created,
            try await factors.replaceRecoveryCodes(
                of: request.principal.user, in: request.principal.session, by: request.caller))
    }

    /// POST /api/user/login/second
    private func logIn(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let opened = try await factors.logIn(
            with: try body.secondFactor(), answering: try body.requiredString("challenge"),
            agent: request.http.userAgent, by: request.caller)
        return access.cookie.response(.ok, opened, to: request.http)
    }

    private static func response(_ status: Status, _ codes: [RecoveryCode]) -> Response {
        .json(status) { $0.member("recovery_codes", codes.map(\.secret)) }
    }
}

extension JSONBody {
    fileprivate func secondFactor() throws(Failure) -> SecondFactors.Proof {
        var proofs: [SecondFactors.Proof] = []
        if let code = try string("code") { proofs.append(.code(code)) }
        if let code = try string("recovery_code") { proofs.append(.recoveryCode(code)) }
        if try object("credential") != nil { proofs.append(.passkey(try requiredAssertion())) }
        guard proofs.count == 1 else {
            throw .malformed("Exactly one of `code`, `recovery_code` and `credential` is needed.")
        }
        return proofs[0]
    }
}

extension SecondFactorChallenge {
    /// The 401 for a user with a second factor.
    var response: Response {
        var response = Response.json(.unauthorized) { body in
            body.member("error", "second_factor_required")
            body.member("message", "Send a second factor to POST /api/user/login/second.")
            body.member("challenge", token)
            body.member("expires_in", lifetime.components.seconds)
            body.member("factors", names)
        }
        response.addErrorFields(retryAfter: nil)
        return response
    }

    /// What may be sent.
    var names: [String] {
        ["totp"] + (hasRecoveryCodes ? ["recovery_code"] : []) + (hasPasskeys ? ["passkey"] : [])
    }
}
