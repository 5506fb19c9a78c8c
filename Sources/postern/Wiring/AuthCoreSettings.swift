internal import AuthCore
internal import Cryptography
internal import Fetching

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

extension RateLimiter.Settings {
    init(_ limits: LimitSection) {
        self.init(
            isEnabled: limits.enabled,
            rates: [
                .general: .init(limits.generalPerSecond, per: .seconds(1)),
                .pro: .init(limits.proPerSecond, per: .seconds(1)),
                .creation: .init(1, per: limits.creationInterval),
                .proCreation: .init(limits.proCreationsPerSecond, per: .seconds(1)),
                .hashLogin: .init(
                    limits.hashLoginsPerSecond, per: .seconds(1), burst: limits.hashLoginBurst),
            ])
    }
}

extension AgentAuth {
    init(
        _ config: Config, _ tokens: TokenAuthority, _ stores: Stores, _ limiter: RateLimiter,
        _ pools: Pools
    ) throws {
        self.init(
            settings: AgentAuth.Settings(
                salt: config.pow.agentSalt,
                scrypt: try Scrypt.Parameters(n: 16_384, r: 8, p: 1, outputBytes: 64),
                challengeLifetime: config.pow.agentLifetime,
                sessionLifetime: config.tokens.sessionLifetime,
                capabilityLifetime: config.tokens.capabilityLifetime,
                mailSubject: config.mail.subject, quota: Int64(config.accounts.freeQuota)),
            policy: AddressPolicy(config.mail),
            governor: DifficultyGovernor(
                settings: DifficultyGovernor.Settings(
                    base: config.pow.agentDifficulty, maximum: config.pow.agentMaxDifficulty)),
            falseProofs: FalseProofLimiter(allowance: config.limits.enabled ? 10 : .max),
            tokens: tokens, accounts: stores.accounts, ledger: stores.challenges,
            audit: stores.audit, limiter: limiter, hashing: pools.hashing, random: RandomBytes.make)
    }
}

extension AccountsAuth {
    init(
        _ config: Config, _ tokens: TokenAuthority, _ stores: AuthCore.Stores,
        _ limiter: RateLimiter, _ pools: Pools
    ) {
        self.init(
            settings: AccountsSettings(config), policy: AddressPolicy(config.mail), tokens: tokens,
            stores: AccountsAuth.Stores(stores),
            hasher: PasswordHasher(config.passwords, pools),
            limiter: limiter,
            throttle: LoginThrottle(
                settings: LoginThrottle.Settings(isEnabled: config.limits.enabled),
                random: RandomBytes.make),
            resolver: SystemResolver(
                client: DNSClient(servers: config.dns.servers, timeout: config.dns.timeout)),
            random: RandomBytes.make)
    }
}

extension HashLoginAuth {
    init(
        _ config: Config, _ tokens: TokenAuthority, _ stores: Stores, _ pools: Pools,
        _ log: @escaping @Sendable (_ cause: String, _ origin: String) -> Void
    ) {
        self.init(
            settings: Settings(config.hashLogin), policy: AddressPolicy(config.mail),
            tokens: tokens, logins: stores.hashLogins, domains: stores.domains,
            audit: stores.audit,
            fetcher: GuardedHashFetcher(config.hashLogin, log: log), hashing: pools.hashing,
            throttle: LoginThrottle(
                settings: LoginThrottle.Settings(isEnabled: config.limits.enabled),
                random: RandomBytes.make),
            stopwatch: SystemStopwatch())
    }
}

extension HashLoginAuth.Settings {
    init(_ hashLogin: HashLoginSection) {
        var bounds = Argon2Hash.Bounds.served
        bounds.memoryKiB = hashLogin.maxMemoryKiB
        bounds.iterations = hashLogin.maxIterations
        bounds.parallelism = hashLogin.maxParallelism
        bounds.saltBytes = bounds.saltBytes.lowerBound...hashLogin.maxSaltBytes
        bounds.tagBytes = bounds.tagBytes.lowerBound...hashLogin.maxTagBytes
        self.init(
            failureFloor: hashLogin.failureFloor, fetchFloor: hashLogin.fetchFloor,
            registerTimeout: hashLogin.registerTimeout, loginTimeout: hashLogin.loginTimeout,
            bounds: bounds)
    }
}

extension PasswordHasher {
    init(_ settings: Settings, _ pools: Pools) {
        self.init(settings: settings, workers: pools.hashing, random: RandomBytes.make)
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
