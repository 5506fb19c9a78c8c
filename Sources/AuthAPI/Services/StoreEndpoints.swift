internal import AuthCore
internal import Cryptography
internal import HTTPEngine
internal import Networking
internal import StrictJSON

/// `/introspect`, `/check-password` and `/usage`, for mail stores.
struct StoreEndpoints: Sendable {
    private static let client = "client"
    private static let loginFields: Set = ["user", "password", "auth_key", client]

    let services: MailServices
    let access: ServicesAccess
    let pipeline: Pipeline<ServicesError>

    var routes: [Route] {
        let form = BodyType.formOrJSON(isOptional: false)
        return [
            pipeline.route(.post, "/introspect", body: form, access.inAuthorization) {
                request throws(ServicesError) in
                try await introspect(
                    try fields(of: request.http, ["token"])["token"], request.caller)
            },
            pipeline.route(.get, "/introspect", access.inAuthorization) {
                request throws(ServicesError) in
                let tokens = request.http.query.filter { $0.name == "token" }
                return try await introspect(
                    tokens.count == 1 ? tokens.first?.value : nil, request.caller)
            },
            pipeline.route(
                .post, "/check-password", body: form, access.inAuthorization,
                client: Self.reportedClient, checkPassword),
            pipeline.route(.post, "/usage", body: .json, access.inAuthorization, noteUsage),
        ]
    }

    /// POST /introspect, GET /introspect?token=
    private func introspect(
        _ token: String?, _ caller: Caller
    ) async throws(ServicesError) -> Response {
        guard let token else { throw .malformed("`token` is missing, or there are two.") }
        // A token that is not valid is a result and not an error (RFC 7662 §2.2).
        guard let found = try await services.introspect(token, at: caller.now) else {
            return .json(.ok) { $0.member("active", false) }
        }
        return .json(.ok) { body in
            body.member("active", true)
            body.member("sub", found.mailbox.name)
            body.member("username", found.mailbox.name)
            body.member("email", found.mailbox.account.address.description)
            body.member("scope", "mail")
            if let audience = found.audience { body.member("aud", audience) }
            body.member("iss", found.issuer)
            body.member("exp", found.expiry.seconds)
            body.member("iat", found.issued.seconds)
            body.member("client_id", "postern")
            body.member("token_type", "Bearer")
        }
    }

    /// POST /check-password
    private func checkPassword(
        _ request: APIRequest<Void>
    ) async throws(ServicesError) -> Response {
        let fields = try fields(of: request.http, Self.loginFields)
        guard let user = fields["user"] else { throw .malformed("`user` is missing.") }
        guard fields[Self.client] == nil || Self.reportedClient(request.http) != nil else {
            throw .malformed("`client` must be an IP address.")
        }
        let mailbox = try await services.logIn(
            user, try secret(in: fields), by: request.caller)
        return .json(.ok) { body in
            body.member("user", mailbox.name)
            body.member("account_id", mailbox.account.id.text)
            body.member("quota", mailbox.account.quota)
        }
    }

    /// The end user's address, as the service reports it; `nil` when it reports none.
    private static func reportedClient(_ request: Request) -> IPAddress? {
        // The handler reports a body that cannot be read.
        (try? BodyFields(request, named: [client]))?[client].flatMap { IPAddress($0)?.unmapped }
    }

    private func secret(in fields: BodyFields) throws(ServicesError) -> MailboxSecret {
        if let text = fields["auth_key"] {
            guard text.utf8.count == 2 * MailboxSecret.authKeyBytes,
                let key = Hex.decode(text.utf8)
            else { throw .malformed("`auth_key` must be 64 hex digits.") }
            return .authKey(key)
        }
        // An empty password is a wrong one.
        guard let password = fields.text(of: "password") else {
            throw .malformed("`password` or `auth_key` is missing.")
        }
        guard password.utf8.count <= MailboxSecret.passwordBytes.upperBound else {
            throw .malformed("`password` must have at most 1,024 bytes.")
        }
        return .password(Array(password.utf8))
    }

    private func fields(
        of request: Request, _ names: Set<String>
    ) throws(ServicesError) -> BodyFields {
        do {
            return try BodyFields(request, named: names)
        } catch {
            throw .malformed("The body must be a form or a JSON object, each field given once.")
        }
    }

    /// POST /usage
    private func noteUsage(_ request: APIRequest<Void>) async throws(ServicesError) -> Response {
        guard case .array(let items)? = try? JSONValue.parse(request.http.body) else {
            throw .malformed("The body must be a JSON array.")
        }
        var usage: [(name: String, used: Int64)] = []
        for item in items {
            guard let name = item.object?["address"]?.string,
                let used = item.object?["used"]?.integer, used >= 0
            else {
                throw .malformed(
                    "Each element must be an object with `address` and `used`, bytes as a whole "
                        + "number.")
            }
            usage.append((name, used))
        }
        let unknown = try await services.note(usage)
        return .json(.ok) { $0.member("unknown", unknown) }
    }
}
