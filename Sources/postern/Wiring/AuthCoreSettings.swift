internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Fetching
internal import Mailing
internal import Provisioning
internal import Scheduling
internal import WebAuthn

// The settings of AuthCore from the configuration.

extension Realm {
    init(_ config: Config, publicURL: String) {
        self.init(
            issuer: publicURL, loginIssuer: config.hashLogin.issuer,
            capabilityAudience: config.tokens.capabilityAudience,
            capabilityKeyID: config.tokens.capabilityKeyID)
    }
}

extension AddressPolicy {
    init(_ mail: MailSection) {
        self.init(
            domains: mail.domains, reserved: Set(mail.reservedLocalParts),
            subaddressDelimiter: mail.subaddressDelimiter.character)
    }
}

extension MailNames {
    init(_ mail: MailSection) {
        self.init(subject: mail.subject, firstDomain: AddressPolicy(mail).agentDomain)
    }
}

extension RateLimiter.Settings {
    init(_ limits: LimitSection) {
        self.init(
            isEnabled: limits.enabled,
            rates: [
                // A client with any token may be a Pro user, so the Pro rate is checked first.
                .client: .init(limits.proPerSecond, per: .seconds(1)),
                .general: .init(limits.generalPerSecond, per: .seconds(1)),
                .pro: .init(limits.proPerSecond, per: .seconds(1)),
                .creation: .init(1, per: limits.creationInterval),
                .proCreation: .init(limits.proCreationsPerSecond, per: .seconds(1)),
                .hashLogin: .init(
                    limits.hashLoginsPerSecond, per: .seconds(1), burst: limits.hashLoginBurst),
            ])
    }
}

extension DifficultyGovernor.Settings {
    init(_ config: Config) {
        self.init(
            base: config.pow.agentDifficulty, maximum: config.pow.agentMaxDifficulty,
            siteRate: config.limits.enabled
                ? .init(config.limits.generalPerSecond, per: .seconds(1)) : nil)
    }
}

/// The use cases of AuthCore, with the settings of a configuration. A class, as ``Application``.
final class UseCases: Sendable {
    let agents: Agents
    let mailboxes: Mailboxes
    let users: Users
    let userSessions: UserSessions
    let passkeys: Passkeys
    let secondFactors: SecondFactors
    let providerLogins: ProviderLogins
    let emailLinks: EmailLinks
    let apiTokens: APITokens
    let domains: Domains
    let webhookEvents: WebhookEvents
    let webhooks: Webhooks
    let authenticator: Authenticator
    let hashLogins: HashLogins
    let mailServices: MailServices

    init(
        _ config: Config, _ stores: Stores, _ tokens: TokenAuthority, _ keys: KeyRing,
        _ pools: Pools, _ parts: LastingParts, _ clock: ServerClock,
        _ report: @escaping @Sendable (RemoteFailure) -> Void
    ) throws {
        let random = RandomBytes.make
        let policy = AddressPolicy(config.mail)
        let settings = AccountsSettings(config)
        let hasher = PasswordHasher(config.passwords, pools)
        let (limiter, throttle) = (parts.limiter, parts.throttle)
        agents = Agents(
            settings: try Agents.Settings(config), policy: policy,
            governor: parts.governor, wrongProofs: parts.wrongProofs,
            tokens: tokens, accounts: stores.accounts, challenges: stores.challenges,
            audit: stores.audit, limiter: limiter, hashing: pools.hashing,
            logins: parts.logins, proofs: parts.agentProofs, random: random)
        mailboxes = Mailboxes(
            settings: settings, policy: policy, tokens: tokens, stores: stores, hasher: hasher,
            limiter: limiter, throttle: throttle, proofs: parts.mailboxProofs, random: random)
        userSessions = UserSessions(
            tokens: tokens, stores: stores, lifetime: settings.tokenLifetime, random: random)
        let notices = UserNotices(mailer: parts.mailQueue, stores: stores, limiter: limiter)
        emailLinks = EmailLinks(
            mailer: parts.mailQueue, stores: stores, hasher: hasher, notices: notices,
            limiter: limiter, random: random)
        passkeys = Passkeys(
            site: RelyingParty(publicURL: tokens.realm.issuer), tokens: tokens, stores: stores,
            sessions: userSessions, notices: notices, throttle: throttle, random: random)
        secondFactors = SecondFactors(
            tokens: tokens, stores: stores, sessions: userSessions, passkeys: passkeys,
            notices: notices, throttle: throttle, keys: keys, random: random)
        users = Users(
            settings: settings, policy: policy, sessions: userSessions, links: emailLinks,
            notices: notices, stores: stores,
            hasher: hasher, limiter: limiter, throttle: throttle, random: random)
        providerLogins = ProviderLogins(
            providers: parts.providers.providers, tokens: tokens, stores: stores, users: users,
            sessions: userSessions, throttle: throttle,
            report: { report(.provider(name: $0, cause: "\($1)")) }, random: random)
        apiTokens = APITokens(tokens: stores.apiTokens, random: random)
        domains = Domains(
            settings: settings, policy: policy, domains: stores.domains,
            resolver: parts.resolver, random: random)
        webhookEvents = WebhookEvents(
            stores: stores, results: parts.webhooks.results, random: random)
        webhooks = Webhooks(
            webhooks: stores.webhooks, events: webhookEvents, keys: keys,
            checkURL: parts.webhooks.receivers.url, random: random)
        authenticator = Authenticator(tokens: tokens, stores: stores)
        mailServices = MailServices(
            agents: agents, tokens: tokens, stores: stores, hasher: hasher, throttle: throttle)
        hashLogins = HashLogins(
            settings: HashLogins.Settings(config), policy: policy, tokens: tokens,
            keys: keys, stores: stores, fetcher: parts.hashFetcher, hashing: pools.hashing,
            throttle: throttle,
            stopwatch: SystemStopwatch(clock: clock),
            report: { report(.servedHash(cause: "\($0)")) })
    }
}

extension RelyingParty {
    /// The server as its public URL says. A URL on this machine counts as `localhost`, because
    /// browsers have no passkeys for a host that is a number.
    init(publicURL: String) {
        guard let url = BaseURL(publicURL), url.isLoopback else {
            let url = BaseURL(publicURL)
            self.init(id: url?.host ?? publicURL, origin: url?.browserOrigin ?? publicURL)
            return
        }
        let scheme = url.isHTTPS ? "https://" : "http://"
        let hostLength = url.host.count + (url.host.utf8.contains(UInt8(ascii: ":")) ? 2 : 0)
        let port = url.browserOrigin.dropFirst(scheme.count + hostLength)
        self.init(id: "localhost", origin: "\(scheme)localhost\(port)")
    }
}

extension Metrics {
    /// The counters and the pools of the use cases. A reload keeps them.
    nonisolated func add(_ parts: LastingParts, _ stores: Stores, _ pools: Pools) {
        add(parts.logins)
        add(parts.limiter)
        addWebhooks(parts.webhooks.results)
        addMails(parts.mailQueue?.results ?? Counters())
        addProofs([("agent", parts.agentProofs), ("accounts", parts.mailboxProofs)])
        let (fetcher, dns) = (parts.hashFetcher, parts.resolver.dns)
        addFetches([
            ("login", fetcher.loginResults), ("registration", fetcher.registrationResults),
        ])
        let (smtp, mailQueue) = (parts.localMail?.smtpPool, parts.mailQueue)
        addPools {
            let database = stores.statistics().connections.map { [("database", $0.pool)] } ?? []
            let smtp = smtp.map { [("smtp", $0.statistics)] } ?? []
            let mailer = mailQueue.map { [("mailer", $0.statistics)] } ?? []
            return [
                ("hashing", pools.hashing.statistics), ("signing", pools.signing.statistics),
                ("mail", pools.mail.statistics), ("dns", dns.statistics),
            ] + smtp + mailer + fetcher.pools + parts.webhooks.pools + database
        }
    }
}

extension LimitSection {
    /// The part of a pool's queue that one client may use.
    var queueShares: WorkerPool.Shares { enabled ? .ofQueue : .unlimited }
}

extension ProofOfWorkSection {
    /// The implementation of scrypt on this machine.
    var kernelChoice: Scrypt.Kernel.Choice {
        Scrypt.Kernel.choose(scrypt.implementation, atMost: scryptLanes)
    }
}

extension PasswordSection {
    /// The implementation of Argon2 on this machine.
    var kernelChoice: Argon2.Kernel.Choice { Argon2.Kernel.choose(argon2.implementation) }
}

extension Agents.Settings {
    fileprivate init(_ config: Config) throws {
        self.init(
            salt: config.pow.agentSalt,
            scrypt: try Scrypt.Parameters(n: 16_384, r: 8, p: 1, outputBytes: 64),
            kernel: config.pow.kernelChoice.kernel,
            challengeLifetime: config.pow.agentLifetime,
            sessionLifetime: config.tokens.sessionLifetime,
            capabilityLifetime: config.tokens.capabilityLifetime,
            capabilityClaims: config.tokens.capabilityClaims,
            mailSubject: config.mail.subject, quota: Int64(config.accounts.freeQuota))
    }
}

extension HashLogins.Settings {
    init(_ config: Config) {
        let hashLogin = config.hashLogin
        var bounds = Argon2Hash.Bounds.served
        bounds.memoryKiB = hashLogin.maxMemoryKiB
        bounds.iterations = hashLogin.maxIterations
        bounds.parallelism = hashLogin.maxParallelism
        bounds.memoryPasses = hashLogin.maxMemoryPasses
        bounds.saltBytes = bounds.saltBytes.lowerBound...hashLogin.maxSaltBytes
        bounds.tagBytes = bounds.tagBytes.lowerBound...hashLogin.maxTagBytes
        self.init(
            failureFloor: hashLogin.failureFloor, fetchFloor: hashLogin.fetchFloor,
            registerTimeout: hashLogin.registerTimeout, loginTimeout: hashLogin.loginTimeout,
            bounds: bounds, kernel: config.passwords.kernelChoice.kernel)
    }
}

extension PasswordHasher {
    init(_ passwords: PasswordSection, _ pools: Pools) {
        let settings = Settings(
            memoryKiB: passwords.memoryKiB, iterations: passwords.iterations,
            parallelism: passwords.parallelism, kernel: passwords.kernelChoice.kernel)
        self.init(settings: settings, pool: pools.hashing, random: RandomBytes.make)
    }
}

extension AccountsSettings {
    init(_ config: Config) {
        self.init(
            difficulty: config.pow.accountsDifficulty,
            challengeLifetime: config.pow.accountsLifetime,
            tokenLifetime: config.tokens.accountLifetime,
            freeQuota: Int64(config.accounts.freeQuota),
            proQuota: Int64(config.accounts.proQuota), pageSize: config.accounts.pageSize,
            registrationIsOpen: config.users.registration == .open,
            maximumAccounts: config.users.maxAccounts,
            maximumDomains: config.users.maxDomains,
            mailExchanger: config.mail.effectiveExchanger)
    }
}
