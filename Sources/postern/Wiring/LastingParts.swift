internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Fetching
internal import Mailing
internal import RemoteMail
internal import Scheduling

/// The state of the use cases that a reload keeps: their data about clients, their counters, and
/// the threads on which they wait for other servers.
struct LastingParts: Sendable {
    let limiter: RateLimiter
    let governor: DifficultyGovernor
    let wrongProofs: WrongProofLimiter?
    let throttle: LoginThrottle
    let resolver: SystemResolver
    let hashFetcher: GuardedHashFetcher
    let storeSessions: StoreSessions?
    let mailWork: MailWork
    let localMail: LocalMailHost?
    let webhooks: WebhookParts
    /// `nil` where the server sends no mail.
    let mailQueue: MailQueue?
    let remoteStore: RemoteStore?
    let providers: ProviderParts
    let logins: Counters<LoginResult>
    let agentProofs: Counters<ProofEvent>
    let mailboxProofs: Counters<ProofEvent>

    /// - Throws: ``ProviderSecretError``; `MalformedTarget`, which the rules of the configuration
    ///   rule out.
    init(
        _ config: Config, _ stores: Stores, _ localMail: LocalMailHost?,
        _ mailWork: MailWork, _ mailQueue: MailQueue?, _ clock: ServerClock,
        _ report: @escaping @Sendable (RemoteFailure) -> Void
    ) throws {
        logins = Counters()
        agentProofs = Counters()
        mailboxProofs = Counters()
        let areShared = config.limits.enabled
        limiter = RateLimiter(settings: RateLimiter.Settings(config.limits))
        governor = DifficultyGovernor(settings: DifficultyGovernor.Settings(config))
        wrongProofs = areShared ? WrongProofLimiter() : nil
        throttle = LoginThrottle(
            settings: LoginThrottle.Settings(isEnabled: areShared), audit: stores.audit,
            results: logins, random: RandomBytes.make)
        resolver = SystemResolver(
            dns: DNSClient(
                servers: config.dns.servers, timeout: config.dns.timeout,
                shares: areShared ? .ofLanes : .unlimited), report: report)
        hashFetcher = GuardedHashFetcher(
            config.hashLogin, limits: .init(areShared: areShared), clock: clock, report: report)
        storeSessions = try StoreSessions(config, report: report)
        self.mailWork = mailWork
        self.localMail = localMail
        webhooks = WebhookParts(config.webhooks)
        self.mailQueue = mailQueue
        remoteStore = RemoteStore(config, report: report)
        providers = try ProviderParts(config)
    }

    private init(_ present: LastingParts, _ limiter: RateLimiter, _ governor: DifficultyGovernor) {
        self.limiter = limiter
        self.governor = governor
        wrongProofs = present.wrongProofs
        throttle = present.throttle
        resolver = present.resolver
        hashFetcher = present.hashFetcher
        storeSessions = present.storeSessions
        mailWork = present.mailWork
        localMail = present.localMail
        webhooks = present.webhooks
        mailQueue = present.mailQueue
        remoteStore = present.remoteStore
        providers = present.providers
        logins = present.logins
        agentProofs = present.agentProofs
        mailboxProofs = present.mailboxProofs
    }

    /// The same parts with other limits. All counts stay.
    func applying(_ config: Config) -> LastingParts {
        LastingParts(
            self,
            RateLimiter(settings: RateLimiter.Settings(config.limits), keeping: limiter),
            DifficultyGovernor(settings: DifficultyGovernor.Settings(config), keeping: governor))
    }
}
