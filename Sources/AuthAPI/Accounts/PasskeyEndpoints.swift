internal import AuthCore
internal import Cryptography
internal import HTTPEngine
internal import StrictJSON
internal import WebAuthn

/// `/api/user/passkeys/…` and `/api/user/login/passkey/…`. Options and credentials have the JSON
/// forms of Web Authentication Level 3 §5.1.8 and §5.1.10, which browsers read and write.
struct PasskeyEndpoints: Sendable {
    private static let path = "/api/user/passkeys"
    private static let one = path + "/{passkey_id}"
    private static let login = "/api/user/login/passkey"

    let passkeys: Passkeys
    let factors: SecondFactors
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        let recent = access.recentLogin
        return [
            pipeline.route(.get, Self.path, access.session, list),
            pipeline.route(.post, Self.path + "/options", recent, registrationOptions),
            pipeline.route(.post, Self.path, body: .json, recent, register),
            pipeline.route(.put, Self.one, body: .json, access.session, rename),
            pipeline.route(.delete, Self.one, recent, remove),
            pipeline.route(.post, Self.login + "/options", body: .json, .none(), loginOptions),
            pipeline.route(.post, Self.login, body: .json, .none(), logIn),
        ]
    }

    private typealias UserRequest = APIRequest<AccountsAccess.SessionHolder>

    /// GET /api/user/passkeys
    private func list(_ request: UserRequest) async throws(AccountsError) -> Response {
        let passkeys = try await passkeys.list(of: request.principal.user)
        return .json(.ok) { body in
            body.array("passkeys") { list in
                for passkey in passkeys { list.element { $0.write(passkey) } }
            }
        }
    }

    /// POST /api/user/passkeys/options
    private func registrationOptions(
        _ request: UserRequest
    ) async throws(AccountsError) -> Response {
        let user = request.principal.user
        let options = try await passkeys.registrationOptions(for: user, by: request.caller)
        let site = passkeys.site
        return .json(.ok) { body in
            body.member("challenge", options.token)
            body.member("public_key") { key in
                key.member("rp") { party in
                    party.member("id", site.id)
                    party.member("name", site.id)
                }
                key.member("user") { member in
                    member.member("id", Base64URL.encode(user.handle))
                    member.member("name", user.email.text)
                    member.member("displayName", user.email.text)
                }
                key.member("challenge", Base64URL.encode(options.challenge))
                key.array("pubKeyCredParams") { list in
                    for algorithm in CredentialAlgorithm.allCases {
                        list.element { member in
                            member.member("type", "public-key")
                            member.member("alg", algorithm.rawValue)
                        }
                    }
                }
                key.member("timeout", options.lifetime.components.seconds * 1000)
                key.write(options.credentials, as: "excludeCredentials")
                key.member("authenticatorSelection") { selection in
                    // Discoverable: the user need not type an email to log in.
                    selection.member("residentKey", "required")
                    selection.member("requireResidentKey", true)
                    selection.member("userVerification", "preferred")
                }
                key.member("attestation", "none")
            }
        }
    }

    /// POST /api/user/passkeys
    private func register(_ request: UserRequest) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let response = try body.requiredCredential().response
        let passkey = try await passkeys.register(
            clientData: try response.requiredBytes("clientDataJSON"),
            attestationObject: try response.requiredBytes("attestationObject"),
            name: try body.passkeyName(), answering: try body.requiredString("challenge"),
            of: request.principal.user, in: request.principal.session, by: request.caller)
        return .json(.created) { $0.write(passkey) }
    }

    /// PUT /api/user/passkeys/{passkey_id}
    private func rename(_ request: UserRequest) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        try await passkeys.rename(
            request.http.passkeyID, to: try body.passkeyName(), of: request.principal.user,
            by: request.caller)
        return Response(status: .noContent)
    }

    /// DELETE /api/user/passkeys/{passkey_id}
    private func remove(_ request: UserRequest) async throws(AccountsError) -> Response {
        try await passkeys.remove(
            request.http.passkeyID, of: request.principal.user, in: request.principal.session,
            by: request.caller)
        return Response(status: .noContent)
    }

    /// POST /api/user/login/passkey/options
    ///
    /// With the `challenge` of an answer `second_factor_required`, the options of the second
    /// factor.
    private func loginOptions(
        _ request: APIRequest<Void>
    ) async throws(AccountsError) -> Response {
        let token = try JSONBody<AccountsError>.optional(request.http)?.string("challenge")
        let options: Passkeys.Options
        if let token {
            options = try await factors.passkeyOptions(answering: token, by: request.caller)
        } else {
            options = try await passkeys.loginOptions(by: request.caller)
        }
        let site = passkeys.site
        return .json(.ok) { body in
            body.member("challenge", options.token)
            body.member("public_key") { key in
                key.member("challenge", Base64URL.encode(options.challenge))
                key.member("timeout", options.lifetime.components.seconds * 1000)
                key.member("rpId", site.id)
                key.write(options.credentials, as: "allowCredentials")
                key.member("userVerification", "preferred")
            }
        }
    }

    /// POST /api/user/login/passkey
    private func logIn(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let body = try JSONBody<AccountsError>(request.http)
        let opened = try await passkeys.logIn(
            with: try body.requiredAssertion(), answering: try body.requiredString("challenge"),
            agent: request.http.userAgent, by: request.caller)
        return access.cookie.response(.ok, opened, to: request.http)
    }
}

extension Request {
    fileprivate var passkeyID: PasskeyID? { parameters["passkey_id"].flatMap(PasskeyID.init) }
}

extension JSONBody {
    fileprivate func passkeyName() throws(Failure) -> String {
        let name = try string("name") ?? "Passkey"
        guard (1...Passkey.maximumNameBytes).contains(name.utf8.count) else {
            throw .malformed("`name` must have 1 to \(Passkey.maximumNameBytes) bytes.")
        }
        return name
    }

    /// `credential`: a PublicKeyCredential as its `toJSON()` writes it.
    fileprivate func requiredCredential() throws(Failure) -> (id: [UInt8], response: JSONBody) {
        guard let credential = try object("credential"),
            let response = try credential.object("response")
        else { throw .malformed("`credential` must be the JSON form of a PublicKeyCredential.") }
        return (try credential.requiredBytes("id"), response)
    }

    /// A string in base64url without padding.
    fileprivate func requiredBytes(_ name: String) throws(Failure) -> [UInt8] {
        guard let bytes = Base64URL.decode(try requiredString(name).utf8) else {
            throw .malformed("`\(name)` must be base64url without padding.")
        }
        return bytes
    }

    func requiredAssertion() throws(Failure) -> PasskeyAssertion {
        let (id, response) = try requiredCredential()
        return PasskeyAssertion(
            credential: id, clientData: try response.requiredBytes("clientDataJSON"),
            authenticatorData: try response.requiredBytes("authenticatorData"),
            signature: try response.requiredBytes("signature"),
            userHandle: try response.string("userHandle") == nil
                ? nil : try response.requiredBytes("userHandle"))
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ credentials: [[UInt8]], as name: String) {
        array(name) { list in
            for credential in credentials {
                list.element { member in
                    member.member("type", "public-key")
                    member.member("id", Base64URL.encode(credential))
                }
            }
        }
    }

    fileprivate mutating func write(_ passkey: Passkey) {
        member("id", passkey.id.text)
        member("name", passkey.name)
        member("synced", passkey.isSynced)
        member("created_at", passkey.created.rfc3339)
        member("last_used_at", passkey.lastUsed?.rfc3339)
    }
}
