/// The operator's settings for the accounts API.
public struct AccountsSettings: Equatable, Sendable {
    /// Leading zero bits of the SHA-256 proof of work.
    public var difficulty: Int
    public var challengeLifetime: Duration
    /// Of Email JWTs and Pro JWTs.
    public var tokenLifetime: Duration
    /// The quota of an account without an owner, in bytes of mail.
    public var freeQuota: Int64
    /// The quota of an account that a Pro user owns, in bytes of mail.
    public var proQuota: Int64
    /// Accounts in one page.
    public var pageSize: Int
    /// Whether anybody may become a Pro user.
    public var registrationIsOpen: Bool
    public var maximumAccounts: Int
    public var maximumDomains: Int
    /// The host that MX records of users' domains must name.
    public var mailExchanger: Domain

    public init(
        difficulty: Int = 20, challengeLifetime: Duration = .seconds(300),
        tokenLifetime: Duration = .seconds(604_800), freeQuota: Int64 = 41_943_040,
        proQuota: Int64 = 52_428_800, pageSize: Int = 30, registrationIsOpen: Bool = false,
        maximumAccounts: Int = 10, maximumDomains: Int = 3, mailExchanger: Domain
    ) {
        self.difficulty = difficulty
        self.challengeLifetime = challengeLifetime
        self.tokenLifetime = tokenLifetime
        self.freeQuota = freeQuota
        self.proQuota = proQuota
        self.pageSize = pageSize
        self.registrationIsOpen = registrationIsOpen
        self.maximumAccounts = maximumAccounts
        self.maximumDomains = maximumDomains
        self.mailExchanger = mailExchanger
    }
}
