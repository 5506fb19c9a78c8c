internal import AuthCore
internal import HTTPEngine
internal import Networking

/// `/forward-auth` and `/nginx-mail-auth`, for proxies.
struct ProxyEndpoints: Sendable {
    private let services: MailServices
    private let access: ServicesAccess
    private let settings: ServicesAPI.Settings
    private let forwardAuth: Pipeline<ServicesError>
    private let mailAuth: Pipeline<ServicesError>

    init(
        services: MailServices, access: ServicesAccess, settings: ServicesAPI.Settings,
        errors: ServicesErrors, events: SecurityEvents, clock: ServerClock
    ) {
        self.services = services
        self.access = access
        self.settings = settings
        forwardAuth = Pipeline(limiter: nil, clock: clock, events: events, rendersFaults: true) {
            error, _ in errors.forwardAuth(error)
        }
        mailAuth = Pipeline(limiter: nil, clock: clock, events: events, rendersFaults: true) {
            error, _ in errors.mailAuth(error)
        }
    }

    /// Accepts every method, because some proxies use the method of the request that they ask
    /// about.
    var routes: [Route] {
        [
            forwardAuth.route(.any, "/forward-auth", access.besideAuthorization, authorize),
            mailAuth.route(
                .any, "/nginx-mail-auth", access.besideAuthorization,
                client: Self.reportedClient, logIn),
        ]
    }

    /// GET /forward-auth
    private func authorize(_ request: APIRequest<Void>) async throws(ServicesError) -> Response {
        let mailbox = try await services.authorize(
            Self.credential(of: request.http), by: request.caller)
        var headers = [
            ("Cache-Control", "no-store"),
            ("X-Auth-User", mailbox.account.address.description),
            ("X-Auth-Subject", mailbox.name),
            ("X-Account-Id", mailbox.account.id.text),
        ]
        if settings.issuesStoreTokens {
            let token = try await services.storeToken(for: mailbox, to: request.caller)
            headers.append(("X-Store-Authorization", "Bearer \(token)"))
        }
        return Response(status: .ok, headers: headers)
    }

    /// The end user's credential; `nil` if there is none. A credential that cannot be read is an
    /// invalid token.
    private static func credential(of request: Request) -> MailServices.EndUserCredential? {
        guard !request.hasNoToken else { return nil }
        if let (user, password) = request.basicCredentials,
            password.count <= MailboxSecret.passwordBytes.upperBound
        {
            return .password(user: user, .password(password))
        }
        return .token(request.bearerToken ?? "")
    }

    /// GET /nginx-mail-auth
    private func logIn(_ request: APIRequest<Void>) async throws(ServicesError) -> Response {
        let fields = request.http.headers
        guard let name = fields.values("auth-protocol").first?.lowercased,
            let server = MailProtocol(rawValue: name).flatMap({ settings.mailServers[$0] })
        else { return MailAuthAnswer.unavailable("No mail server for this protocol") }
        let method = fields.values("auth-method").first
        guard method?.equalsIgnoringCase("plain") ?? true,
            let user = fields.values("auth-user").first?.percentDecoded,
            let password = fields.values("auth-pass").first?.percentDecoded,
            password.count <= MailboxSecret.passwordBytes.upperBound
        else { throw .invalidCredentials }
        let sent = String(decoding: user, as: UTF8.self)
        let mailbox = try await services.logIn(sent, .password(password), by: request.caller)
        return MailAuthAnswer.accepted(at: server, as: mailbox.name, sent: sent)
    }

    /// nginx writes `unix:` for a client on a unix socket.
    private static func reportedClient(_ request: Request) -> IPAddress? {
        request.headers.first("client-ip").flatMap { IPAddress($0)?.unmapped }
    }
}

/// The answers to nginx (`ngx_mail_auth_http_module`): always 200, the result is in the headers.
enum MailAuthAnswer {
    /// The shortest time that nginx waits before the client may try again.
    private static let shortestWait: Duration = .seconds(3)

    /// - Parameter sent: the user name that the client sent. If the name at the mail store differs,
    ///   nginx logs in with that.
    static func accepted(at server: SocketAddress, as name: String, sent: String) -> Response {
        var headers = [
            ("Auth-Status", "OK"), ("Auth-Server", "\(server.address)"),
            ("Auth-Port", "\(server.port)"),
        ]
        if !name.utf8.elementsEqual(sent.utf8) { headers.append(("Auth-User", name)) }
        return Response(status: .ok, headers: headers)
    }

    static func denied(after wait: Duration) -> Response {
        Response(
            status: .ok,
            headers: [
                ("Auth-Status", "Invalid login or password"),
                ("Auth-Wait", String(max(shortestWait, wait).retryAfterSeconds)),
            ])
    }

    /// nginx closes the connection. The code is for SMTP, as a temporary failure.
    static func unavailable(_ explanation: String) -> Response {
        Response(
            status: .ok,
            headers: [("Auth-Status", explanation), ("Auth-Error-Code", "451 4.3.0")])
    }
}
