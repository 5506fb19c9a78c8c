internal import AuthCore
public import Cryptography
public import Networking

// The sections about accounts with passwords and about their users.

extension AccountsSettings {
    /// The settings of the accounts API that AuthCore owns, with their defaults.
    static let defaults = AccountsSettings(mailExchanger: MailSection().effectiveExchanger)
}

/// `[passwords]`: the cost of Argon2id, and how it is computed. A login computes the hash again
/// when the cost was raised.
public struct PasswordSection: Sendable {
    /// The memory of one hash.
    public var memoryKiB = defaults.memoryKiB
    public var iterations = defaults.iterations
    public var parallelism = defaults.parallelism
    /// How Argon2 is computed, for served hashes, too.
    public var argon2 = Argon2Choice.auto

    private static let defaults = PasswordHasher.Settings()

    static let settings = [
        Setting("passwords.memory_kib", \.passwords.memoryKiB, .integer(Argon2.memoryKiB))
            .reloadable,
        Setting("passwords.iterations", \.passwords.iterations, .integer(Argon2.iterations))
            .reloadable,
        Setting("passwords.parallelism", \.passwords.parallelism, .integer(Argon2.parallelism))
            .reloadable,
        Setting("passwords.argon2", \.passwords.argon2, .oneOf),
    ]
}

/// How Argon2 is computed: the fastest way on this processor, or one given implementation.
public enum Argon2Choice: String, CaseIterable, Sendable {
    case auto, avx512, avx2, sse2, libargon2

    /// `nil` for the fastest one.
    public var implementation: Argon2.Implementation? { Argon2.Implementation(rawValue: rawValue) }
}

/// `[accounts]`: accounts with passwords.
public struct AccountSection: Sendable {
    /// Bytes of mail for agents and for accounts without an owner.
    public var freeQuota = AccountsSettings.defaults.freeQuota
    /// Bytes of mail for an account that a Pro user owns.
    public var proQuota = AccountsSettings.defaults.proQuota
    /// Accounts in one page of a user's list.
    public var pageSize = AccountsSettings.defaults.pageSize

    static let settings = [
        Setting("accounts.free_quota", \.accounts.freeQuota, .integer(0...(1 << 50))),
        Setting("accounts.pro_quota", \.accounts.proQuota, .integer(0...(1 << 50))),
        Setting("accounts.page_size", \.accounts.pageSize, .integer(1...1000)),
    ].map(\.reloadable)
}

/// `[users]`: Pro users.
public struct UserSection: Sendable {
    /// Who may become a Pro user.
    public enum Registration: String, CaseIterable, Sendable {
        /// Everybody.
        case open
        /// Only users that the operator adds.
        case closed
    }

    public var registration: Registration =
        AccountsSettings.defaults.registrationIsOpen ? .open : .closed
    /// Accounts that one user may own.
    public var maxAccounts = AccountsSettings.defaults.maximumAccounts
    /// Domains that one user may add.
    public var maxDomains = AccountsSettings.defaults.maximumDomains

    /// Where users can log in instead of here.
    public var providers: [ProviderSection] = []
    /// How long a provider may take for one answer.
    public var providerTimeout = Duration.seconds(5)

    static let settings =
        reloadable + [
            Setting(
                "users.providers", \.users.providers,
                .list(
                    of: ProviderSection.syntax, 0...20,
                    accepts: "at most 20 tables, each \(ProviderSection.syntax.accepts)")),
            Setting(
                "users.provider_timeout", \.users.providerTimeout,
                .duration(.milliseconds(100) ... .seconds(30))),
        ]

    private static let reloadable = [
        Setting("users.registration", \.users.registration, .oneOf),
        Setting("users.max_accounts", \.users.maxAccounts, .integer(0...1_000_000)),
        Setting("users.max_domains", \.users.maxDomains, .integer(0...10_000)),
    ].map(\.reloadable)
}

/// `[limits]`: rate limits for one client network.
public struct LimitSection: Sendable {
    /// `false` turns off the rate limits and the delay after failed logins.
    public var enabled = true
    /// Requests per second without a verified Pro token.
    public var generalPerSecond = 8
    /// Requests per second with a verified Pro token.
    public var proPerSecond = 20
    /// The time in which one free account or agent may be created.
    public var creationInterval = Duration.seconds(8)
    /// Accounts per second that Pro users may create.
    public var proCreationsPerSecond = 8
    /// Registrations, logins and logouts of the hash-login API per second.
    public var hashLoginsPerSecond = 1
    /// How many of them may arrive at once.
    public var hashLoginBurst = 5

    static let settings =
        // It also decides how pools and connections are divided between clients.
        [Setting("limits.enabled", \.limits.enabled, .boolean)] + rates.map(\.reloadable)

    private static let rates = [
        Setting("limits.general_per_second", \.limits.generalPerSecond, rate),
        Setting("limits.pro_per_second", \.limits.proPerSecond, rate),
        Setting(
            "limits.creation_interval", \.limits.creationInterval,
            .duration(.milliseconds(1) ... .seconds(86_400))),
        Setting("limits.pro_creations_per_second", \.limits.proCreationsPerSecond, rate),
        Setting("limits.hash_logins_per_second", \.limits.hashLoginsPerSecond, rate),
        Setting("limits.hash_login_burst", \.limits.hashLoginBurst, rate),
    ]

    private static let rate = Syntax<Int>.integer(1...1_000_000)
}

/// `[dns]`: the look-up of users' domains.
public struct DNSSection: Sendable {
    /// The time for one look-up as a whole.
    public var timeout = Duration.seconds(5)
    /// The name servers to ask; those of the system when empty.
    public var servers: [SocketAddress] = []

    static let settings = [
        Setting("dns.timeout", \.dns.timeout, .duration(.milliseconds(100) ... .seconds(30))),
        Setting(
            "dns.servers", \.dns.servers,
            .list(
                of: nameServer, 0...8,
                accepts: "at most 8 addresses (192.0.2.53, 192.0.2.53:5353, [::1]:53)")),
    ]

    private static let nameServer = Syntax<SocketAddress>.string(
        "an address with or without a port", read: { SocketAddress($0, defaultPort: 53) },
        write: \.description)
}
