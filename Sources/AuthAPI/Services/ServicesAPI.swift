public import AuthCore
public import Cryptography
public import HTTPEngine
public import Networking

/// The endpoints for mail stores and proxies, on a separate listener (docs/api.md, "Services API").
///
/// There are no rate limits by client, because all requests come from the operator's own programs.
/// Failed logins are counted by the end user's address that these programs report.
public struct ServicesAPI: Sendable {
    /// What the operator sets.
    public struct Settings: Sendable {
        /// Every request needs it; `nil` if the listener itself decides who can ask.
        public var secret: SecretBytes?
        /// Whether proxies get a token that they pass to the mail store.
        public var issuesStoreTokens: Bool
        /// The servers that nginx connects mail clients to.
        public var mailServers: [MailProtocol: SocketAddress]

        public init(
            secret: SecretBytes? = nil, issuesStoreTokens: Bool = false,
            mailServers: [MailProtocol: SocketAddress] = [:]
        ) {
            self.secret = secret
            self.issuesStoreTokens = issuesStoreTokens
            self.mailServers = mailServers
        }
    }

    /// The look-ups of a mail server, on another listener.
    public let socketmap: NetstringService
    private let errors = ServicesErrors()
    private let stores: StoreEndpoints
    private let delivered: DeliveredEndpoints
    private let proxies: ProxyEndpoints
    private let users: UserInfoEndpoint
    private let metrics: MetricsEndpoint
    private let publicUsers: UserInfoEndpoint

    /// - Parameters:
    ///   - limiter: for the endpoint that is also on the public listener; shared by all APIs, as
    ///     `events`.
    public init(
        services: MailServices, webhookEvents: WebhookEvents, settings: Settings,
        metrics: Metrics, limiter: RateLimiter, events: SecurityEvents, clock: ServerClock
    ) {
        socketmap = Socketmap(services: services).service
        let errors = errors
        let pipeline = Pipeline<ServicesError>(limiter: nil, clock: clock, events: events) {
            error, _ in errors.response(error)
        }
        let access = ServicesAccess(secret: settings.secret)
        stores = StoreEndpoints(services: services, access: access, pipeline: pipeline)
        delivered = DeliveredEndpoints(
            services: services, events: webhookEvents, access: access, pipeline: pipeline)
        proxies = ProxyEndpoints(
            services: services, access: access, settings: settings, errors: errors,
            events: events, clock: clock)
        users = UserInfoEndpoint(
            services: services, authentication: access.besideAuthorization, pipeline: pipeline)
        self.metrics = MetricsEndpoint(metrics: metrics, access: access, pipeline: pipeline)
        publicUsers = UserInfoEndpoint(
            services: services, authentication: .none(),
            pipeline: Pipeline(limiter: limiter, clock: clock, events: events) { error, _ in
                errors.response(error)
            })
    }

    /// Everything on the services listener.
    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/"], errors: errors.renderer,
            routes: stores.routes + delivered.routes + proxies.routes
                + [users.route, metrics.route])
    }

    public var router: Router { Router(groups: [routes], fallback: errors.renderer) }

    /// The endpoint that is also on the public listener.
    public var publicRoutes: RouteGroup {
        RouteGroup(
            prefixes: ["/userinfo"], errors: errors.renderer, routes: [publicUsers.route])
    }
}

/// A protocol of mail clients, by its name in nginx.
public enum MailProtocol: String, CaseIterable, Sendable {
    case imap, pop3, smtp
}
