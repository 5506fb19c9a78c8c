internal import Cryptography
public import Networking
internal import Synchronization

/// Slows down whoever guesses passwords, and locks nobody out.
///
/// Failed logins are counted for an account from one network, for a network over all accounts and
/// for an account over all networks (``LoginHistory``); each count, after some free tries, makes
/// the next attempt wait, a second at first and twice as long with each failure, up to a bound.
/// Each minute forgives one failure.
///
/// An attacker who is elsewhere cannot keep an owner out. A network that the account was opened
/// from lately is slowed by its own failures alone; from any other the first try is admitted at
/// once, and what others do adds ``Settings/strangerDelay`` at most to the wait after a failure.
/// What remains: whoever shares an address with an attacker and has not logged in from there waits
/// with him. And guesses from very many networks are slowed, not stopped: only a lock would.
///
/// One stale password that a program repeats counts once: the keyed digests of the last four
/// secrets that failed are remembered with the count, the key made at start and kept in memory.
/// Accounts that do not exist are counted like those that do.
public final class LoginThrottle: Sendable {
    /// What the operator sets.
    public struct Settings: Equatable, Sendable {
        /// Off admits everything.
        public var isEnabled: Bool
        /// Failures on one account from one network before the next attempt has to wait.
        public var freeTries: Int
        /// Failures from one network over all accounts.
        public var networkFreeTries: Int
        /// Failures on one account over all networks.
        public var accountFreeTries: Int
        /// The longest wait for one's own failures.
        public var maximumDelay: Duration
        /// The longest wait for the failures of others on the same account.
        public var strangerDelay: Duration
        /// How long a network counts as known after a login.
        public var acquaintance: Duration
        /// Entries in each of the four tables.
        public var capacity: Int

        public init(
            isEnabled: Bool = true, freeTries: Int = 5, networkFreeTries: Int = 20,
            accountFreeTries: Int = 10, maximumDelay: Duration = .seconds(60),
            strangerDelay: Duration = .seconds(8), acquaintance: Duration = .seconds(2_592_000),
            capacity: Int = 32_768
        ) {
            self.isEnabled = isEnabled
            self.freeTries = freeTries
            self.networkFreeTries = networkFreeTries
            self.accountFreeTries = accountFreeTries
            self.maximumDelay = maximumDelay
            self.strangerDelay = strangerDelay
            self.acquaintance = acquaintance
            self.capacity = capacity
        }
    }

    private let isEnabled: Bool
    private let key: HMACKey
    private let history: Mutex<LoginHistory>

    /// - Parameter random: gives so many random bytes, fit for keys.
    public init(settings: Settings = Settings(), random: (Int) -> [UInt8]) {
        isEnabled = settings.isEnabled
        key = HMACKey(secret: random(32))
        history = Mutex(LoginHistory(settings: settings))
    }

    /// To be called before a secret is looked at, and followed by what came of it:
    /// ``recordFailure(account:secret:from:at:)``, ``recordSuccess(account:from:at:)``, or neither
    /// when there was no verdict.
    /// - Parameter account: an address or an email in its normal form, whether it exists or not.
    public func check(
        account: String, from client: IPAddress, at now: Instant
    ) throws(RateLimited) {
        guard isEnabled else { return }
        let key = accountKey(account)
        let wait = history.withLock { $0.check(key, from: client.client, at: now) }
        guard wait == 0 else {
            throw RateLimited(retryAfter: .seconds((wait + 999) / 1000))
        }
    }

    /// Counts a secret that was wrong, unless it is one of the last that were.
    public func recordFailure(
        account: String, secret: PasswordSecret, from client: IPAddress, at now: Instant
    ) {
        guard isEnabled else { return }
        let key = accountKey(account)
        let digest = secretDigest(secret, for: key)
        history.withLock {
            $0.recordFailure(key, secret: digest, from: client.client, at: now)
        }
    }

    /// Forgives this network's failures on this account, and knows the network from now on.
    public func recordSuccess(account: String, from client: IPAddress, at now: Instant) {
        guard isEnabled else { return }
        let key = accountKey(account)
        history.withLock { $0.recordSuccess(key, from: client.client, at: now) }
    }

    private func accountKey(_ account: String) -> LoginHistory.AccountKey {
        let mac = key.authenticate([0] + Array(account.utf8))
        return .init(high: Self.number(mac[..<8]), low: Self.number(mac[8..<16]))
    }

    /// Never 0, which stands for none. Bound to the account, so that one password tried on many
    /// accounts is many failures.
    private func secretDigest(
        _ secret: PasswordSecret, for account: LoginHistory.AccountKey
    ) -> UInt64 {
        var message: [UInt8] = [1]
        for half in [account.high, account.low] {
            withUnsafeBytes(of: half) { message.append(contentsOf: $0) }
        }
        return Self.number(key.authenticate(message + secret.presented)[..<8]) | 1
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
