internal import Cryptography

/// The use cases of the accounts surface, one call each: accounts with passwords, Pro users, their
/// tokens and domains.
///
/// Every call is told who is asking, from where and when; throws a ``Refusal`` when the caller can
/// mend it and anything else when we must. Nothing it acknowledges is lost.
public struct AccountsAuth: Sendable {
    /// Where everything lives.
    public struct Stores: Sendable {
        let accounts: any AccountStore
        let users: any UserStore
        let holdings: any HoldingStore
        let tokens: any APITokenStore
        let domains: any DomainStore
        let ledger: any ChallengeLedger
        let audit: any AuditLog

        public init(_ stores: AuthCore.Stores) {
            accounts = stores.accounts
            users = stores.users
            holdings = stores.holdings
            tokens = stores.apiTokens
            domains = stores.domains
            ledger = stores.challenges
            audit = stores.audit
        }
    }

    public let settings: AccountsSettings
    let policy: AddressPolicy
    let tokens: TokenAuthority
    let stores: Stores
    let hasher: PasswordHasher
    let limiter: RateLimiter
    let throttle: LoginThrottle
    let resolver: any DomainResolver
    let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: gives so many random bytes, fit for keys.
    public init(
        settings: AccountsSettings, policy: AddressPolicy, tokens: TokenAuthority, stores: Stores,
        hasher: PasswordHasher, limiter: RateLimiter, throttle: LoginThrottle,
        resolver: any DomainResolver, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.settings = settings
        self.policy = policy
        self.tokens = tokens
        self.stores = stores
        self.hasher = hasher
        self.limiter = limiter
        self.throttle = throttle
        self.resolver = resolver
        self.random = random
    }

    func makeTokenID() -> String { Base64URL.encode(random(16)) }
}
