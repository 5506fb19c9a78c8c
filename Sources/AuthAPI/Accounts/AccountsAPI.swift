public import AuthCore
public import HTTPEngine

/// The accounts API: `/api/…` (docs/api.md, "Accounts API").
///
/// The endpoints are grouped by subject: mailboxes, users, links by mail, sessions, passkeys,
/// second factors, identity providers, API tokens, domains, webhooks.
///
/// A class, because the code that copies its fields would be 170 KB.
public final class AccountsAPI: Sendable {
    let errors = AccountsErrors()
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess
    let mail: AccountsMail
    private let mailboxes: MailboxEndpoints
    private let users: UserEndpoints
    private let links: EmailLinkEndpoints
    private let sessions: SessionEndpoints
    private let passkeys: PasskeyEndpoints
    private let secondFactors: SecondFactorEndpoints
    private let providers: ProviderEndpoints
    private let apiTokens: APITokenEndpoints
    private let domains: DomainEndpoints
    private let webhooks: WebhookEndpoints

    /// - Parameters:
    ///   - publicURL: the URL that clients use for this server.
    ///   - qrCode: a text as a QR code in SVG; `nil` where that cannot be made.
    ///   - mail: where the mail of accounts is.
    ///   - limiter: shared by all APIs, as `events`.
    public init(
        mailboxes: Mailboxes, users: Users, links: EmailLinks, sessions: UserSessions,
        passkeys: Passkeys, secondFactors: SecondFactors,
        qrCode: @escaping @Sendable (String) -> String? = { _ in nil },
        providerLogins: ProviderLogins, apiTokens: APITokens, domains: Domains,
        webhooks: Webhooks, authenticator: Authenticator,
        publicURL: String, mail: AccountsMail = .none, limiter: RateLimiter,
        events: SecurityEvents, clock: ServerClock
    ) {
        let errors = errors
        let pipeline = Pipeline<AccountsError>(limiter: limiter, clock: clock, events: events) {
            error, _ in
            errors.response(error)
        }
        let access = AccountsAccess(
            authenticator: authenticator, mailboxes: mailboxes,
            cookie: SessionCookie(publicURL: publicURL))
        self.pipeline = pipeline
        self.access = access
        self.mail = mail
        self.mailboxes = MailboxEndpoints(
            mailboxes: mailboxes, mail: mail, pipeline: pipeline, access: access)
        self.users = UserEndpoints(users: users, pipeline: pipeline, access: access)
        self.links = EmailLinkEndpoints(links: links, pipeline: pipeline, access: access)
        self.sessions = SessionEndpoints(sessions: sessions, pipeline: pipeline, access: access)
        self.passkeys = PasskeyEndpoints(
            passkeys: passkeys, factors: secondFactors, pipeline: pipeline, access: access)
        self.secondFactors = SecondFactorEndpoints(
            factors: secondFactors, qrCode: qrCode, pipeline: pipeline, access: access)
        let pages = ProviderPages(errors: errors, publicURL: publicURL)
        providers = ProviderEndpoints(
            logins: providerLogins, pipeline: pipeline,
            pages: Pipeline(limiter: limiter, clock: clock, events: events) {
                pages.response($0, to: $1)
            }, access: access, signInCookie: SignInCookie(publicURL: publicURL))
        self.apiTokens = APITokenEndpoints(tokens: apiTokens, pipeline: pipeline, access: access)
        self.domains = DomainEndpoints(domains: domains, pipeline: pipeline, access: access)
        self.webhooks = WebhookEndpoints(webhooks: webhooks, pipeline: pipeline, access: access)
    }

    public var routes: RouteGroup {
        RouteGroup(
            prefixes: ["/api"], errors: errors.renderer,
            routes: mailboxes.routes + users.routes + links.routes + sessions.routes
                + passkeys.routes + secondFactors.routes + providers.routes + apiTokens.routes
                + domains.routes
                + webhooks.routes)
    }
}
