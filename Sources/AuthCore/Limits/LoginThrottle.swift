internal import Cryptography
public import Networking
internal import Synchronization

/// Slows down password guessing. It never locks an account.
///
/// Failed logins are counted for an account from one network, for a network over all accounts, and
/// for an account over all networks (``LoginHistory``). After some free tries, each count makes the
/// next attempt wait: one second at first, twice as long after each further failure, up to a
/// maximum. Each count falls by one per minute.
///
/// Failures from other networks cannot keep the owner out. From a network that has logged in to the
/// account lately, only its own failures on the account count. From another network without
/// failures, the first attempt is checked at once; after a failure, the failures of others cause a
/// wait of ``Settings/othersDelay`` at most. Two weaknesses remain:
/// - An owner who shares a network address with an attacker, and has not logged in from there
///   lately, waits as long as the attacker.
/// - Guesses from very many networks are slowed but not stopped. Only a lock would stop them, and
///   an attacker could use a lock to keep the owner out.
///
/// One outdated password that a program repeats counts once: each count keeps the digests of the
/// last four secrets that failed. Their key is generated at start and kept in memory only.
///
/// Accounts that do not exist are counted like those that do, so a wait does not show which exist.
public final class LoginThrottle: Sendable {
    /// What the operator sets.
    public struct Settings: Equatable, Sendable {
        /// When false nothing is counted or delayed.
        public var isEnabled: Bool
        /// Attempts without a wait on one account from one network.
        public var freeTries: Int
        /// Attempts without a wait from one network over all accounts.
        public var networkFreeTries: Int
        /// Attempts without a wait on one account over all networks.
        public var accountFreeTries: Int
        /// The longest wait after failures of the client's own network.
        public var maximumDelay: Duration
        /// The longest wait that the failures of other networks on the same account can cause.
        public var othersDelay: Duration
        /// How long after a login its network counts as known to the account.
        public var knownNetworkPeriod: Duration
        /// The greatest number of entries in each of the four tables.
        public var capacity: Int

        public init(
            isEnabled: Bool = true, freeTries: Int = 5, networkFreeTries: Int = 20,
            accountFreeTries: Int = 10, maximumDelay: Duration = .seconds(60),
            othersDelay: Duration = .seconds(8),
            knownNetworkPeriod: Duration = .seconds(2_592_000), capacity: Int = 32_768
        ) {
            self.isEnabled = isEnabled
            self.freeTries = freeTries
            self.networkFreeTries = networkFreeTries
            self.accountFreeTries = accountFreeTries
            self.maximumDelay = maximumDelay
            self.othersDelay = othersDelay
            self.knownNetworkPeriod = knownNetworkPeriod
            self.capacity = capacity
        }
    }

    private let isEnabled: Bool
    private let key: HMACKey
    private let history: Mutex<LoginHistory>

    /// - Parameter random: returns that many random bytes, fit for keys.
    public init(settings: Settings = Settings(), random: (Int) -> [UInt8]) {
        isEnabled = settings.isEnabled
        key = HMACKey(secret: random(32))
        history = Mutex(LoginHistory(settings: settings))
    }

    /// Checks whether an attempt may be made now. Call it before the secret is verified, and report
    /// the result with ``recordFailure(account:secret:from:at:)`` or
    /// ``recordSuccess(account:from:at:)``. When the secret could not be verified, report nothing.
    /// - Parameter account: an address or an email in its normal form, whether it exists or not.
    /// - Throws: ``RateLimited`` when the client has to wait.
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

    /// Counts a wrong secret, unless it is one of the last four that were counted.
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

    /// Clears this network's failures on this account. The network is known to the account from now
    /// on.
    public func recordSuccess(account: String, from client: IPAddress, at now: Instant) {
        guard isEnabled else { return }
        let key = accountKey(account)
        history.withLock { $0.recordSuccess(key, from: client.client, at: now) }
    }

    private func accountKey(_ account: String) -> LoginHistory.AccountKey {
        let mac = key.authenticate([0] + Array(account.utf8))
        return .init(high: Self.number(mac[..<8]), low: Self.number(mac[8..<16]))
    }

    /// A keyed digest of the secret and the account. It includes the account, so that one password
    /// tried on many accounts counts each time. Never 0, which means none.
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
