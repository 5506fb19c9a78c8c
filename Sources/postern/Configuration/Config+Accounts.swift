internal import AuthCore
internal import Cryptography

extension Config {
    /// How passwords are kept: Argon2id.
    struct Passwords: Sendable {
        /// Memory of one hash, in KiB. A login re-hashes when this has moved up.
        var memoryKiB = 19_456
        /// Passes over that memory.
        var iterations = 2
        /// Lanes; more than one only spreads one hash over cores.
        var parallelism = 1

        static let settings = [
            Setting("passwords.memory_kib", \.passwords.memoryKiB, .integer(Argon2.memoryKiB)),
            Setting("passwords.iterations", \.passwords.iterations, .integer(Argon2.iterations)),
            Setting("passwords.parallelism", \.passwords.parallelism, .integer(Argon2.parallelism)),
        ]
    }

    /// Accounts with passwords.
    struct Accounts: Sendable {
        /// Bytes of mail for agents and for accounts without an owner.
        var freeQuota = 41_943_040
        /// Bytes of mail for an account that a Pro user owns.
        var proQuota = 52_428_800
        /// Accounts in one page of a user's list.
        var pageSize = 30

        static let settings = [
            Setting("accounts.free_quota", \.accounts.freeQuota, .integer(0...(1 << 50))),
            Setting("accounts.pro_quota", \.accounts.proQuota, .integer(0...(1 << 50))),
            Setting("accounts.page_size", \.accounts.pageSize, .integer(1...1000)),
        ]
    }

    /// Pro users.
    struct Users: Sendable {
        /// Whether anybody may become one, or only the operator adds them.
        var registration = Registration.closed
        /// Accounts that one user may own.
        var maxAccounts = 10
        /// Domains that one user may bring.
        var maxDomains = 3

        static let settings = [
            Setting("users.registration", \.users.registration, .oneOf),
            Setting("users.max_accounts", \.users.maxAccounts, .integer(0...1_000_000)),
            Setting("users.max_domains", \.users.maxDomains, .integer(0...10_000)),
        ]
    }

    /// Who may become a Pro user.
    enum Registration: String, CaseIterable, Sendable {
        case open, closed
    }

    /// How often one client network may ask.
    struct Limits: Sendable {
        /// Off lets everything through, failed logins too. Off in the test profile.
        var enabled = true
        /// Requests without a verified Pro token, in a second.
        var generalPerSecond = 8
        /// Requests with a verified Pro token, in a second.
        var proPerSecond = 20
        /// One free account or agent in this time.
        var creationInterval = Duration.seconds(8)
        /// Accounts made by Pro users, in a second.
        var proCreationsPerSecond = 8
        /// Registrations, logins and logouts of the hash-login surface, in a second.
        var hashLoginsPerSecond = 1
        /// How many of them may come at once.
        var hashLoginBurst = 5

        static let settings = [
            Setting("limits.enabled", \.limits.enabled, .boolean),
            Setting(
                "limits.general_per_second", \.limits.generalPerSecond, .integer(1...1_000_000)),
            Setting("limits.pro_per_second", \.limits.proPerSecond, .integer(1...1_000_000)),
            Setting(
                "limits.creation_interval", \.limits.creationInterval,
                .duration(.milliseconds(1) ... .seconds(86_400))),
            Setting(
                "limits.pro_creations_per_second", \.limits.proCreationsPerSecond,
                .integer(1...1_000_000)),
            Setting(
                "limits.hash_logins_per_second", \.limits.hashLoginsPerSecond,
                .integer(1...1_000_000)),
            Setting("limits.hash_login_burst", \.limits.hashLoginBurst, .integer(1...1_000_000)),
        ]
    }
}
