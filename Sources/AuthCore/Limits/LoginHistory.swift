internal import Networking

/// The failed and successful logins that ``LoginThrottle`` remembers, and the waits that follow
/// from them.
///
/// Failures are counted in three tables, each with its own ``DelaySteps``:
/// - for an account from one network,
/// - for a network over all accounts, which catches one password tried on many accounts,
/// - for an account over all networks. This count delays only networks that have not logged in to
///   the account lately and that have already failed on it. The first attempt from a network
///   without failures is therefore checked at once, however many others fail.
///
/// Only a failure or a success adds an entry. Each has cost a password hash, so the hashing pool
/// bounds the rate at which the tables grow. A full table drops the entries that were written
/// longest ago. To have its own failures dropped that way, an attacker needs more attempts than it
/// gains.
struct LoginHistory: Sendable {
    /// A keyed digest of an account's name.
    struct AccountKey: Hashable, Sendable {
        let high, low: UInt64
    }

    /// An account and a network that attempts on it come from.
    private struct Origin: Hashable, Sendable {
        let account: AccountKey
        let network: IPBlock
    }

    /// How many networks are known for an account: those of its latest logins.
    private static let maximumKnownNetworks = 8

    private let originSteps: DelaySteps
    private let networkSteps: DelaySteps
    private let accountSteps: DelaySteps
    private var origins: RecentTable<Origin, FailureCount>
    private var networks: RecentTable<IPBlock, FailureCount>
    private var accounts: RecentTable<AccountKey, FailureCount>
    /// The networks that have logged in to an account, the latest first.
    private var knownNetworks: RecentTable<AccountKey, [IPBlock]>

    init(settings: LoginThrottle.Settings) {
        originSteps = DelaySteps(
            freeTries: settings.freeTries, maximum: settings.maximumDelay)
        networkSteps = DelaySteps(
            freeTries: settings.networkFreeTries, maximum: settings.maximumDelay)
        accountSteps = DelaySteps(
            freeTries: settings.accountFreeTries, maximum: settings.othersDelay)
        let capacity = settings.capacity
        func table<Key>(_ steps: DelaySteps) -> RecentTable<Key, FailureCount> {
            RecentTable(
                period: .milliseconds(
                    max(1, steps.failuresToMaximum) * FailureCount.decayInterval),
                capacity: capacity)
        }
        origins = table(originSteps)
        networks = table(networkSteps)
        accounts = table(accountSteps)
        knownNetworks = RecentTable(period: settings.knownNetworkPeriod, capacity: capacity)
    }

    /// The number of entries in all tables.
    var count: Int { origins.count + networks.count + accounts.count + knownNetworks.count }

    /// - Returns: the milliseconds to wait; 0 when the attempt may be checked now.
    mutating func check(
        _ account: AccountKey, from network: IPBlock, at instant: Instant
    ) -> Int64 {
        let now = advance(to: instant)
        let isKnown = knownNetworks[account]?.contains(network) ?? false
        let origin = Origin(account: account, network: network)
        var ofOrigin = origins[origin] ?? FailureCount()
        var ofNetwork = networks[network] ?? FailureCount()
        ofOrigin.limitTimes(to: now, with: originSteps)
        ofNetwork.limitTimes(to: now, with: networkSteps)

        let originDelay = delay(after: ofOrigin, on: account, isKnown: isKnown, at: now)
        let networkDelay =
            isKnown ? 0 : networkSteps.delay(after: ofNetwork.failures(at: now))
        let wait = max(
            ofOrigin.wait(originDelay, at: now), ofNetwork.wait(networkDelay, at: now))
        if wait == 0 {
            ofOrigin.block(for: originDelay, at: now)
            ofNetwork.block(for: networkDelay, at: now)
        }
        if originDelay > 0 { origins[origin] = ofOrigin }
        if networkDelay > 0 { networks[network] = ofNetwork }
        return wait
    }

    mutating func recordFailure(
        _ account: AccountKey, secret digest: UInt64, from network: IPBlock,
        at instant: Instant
    ) {
        let now = advance(to: instant)
        let origin = Origin(account: account, network: network)
        var ofOrigin = origins[origin] ?? FailureCount()
        ofOrigin.limitTimes(to: now, with: originSteps)
        guard ofOrigin.count(digest, at: now, with: originSteps) else { return }
        origins[origin] = ofOrigin

        var ofNetwork = networks[network] ?? FailureCount()
        ofNetwork.limitTimes(to: now, with: networkSteps)
        ofNetwork.add(at: now, with: networkSteps)
        networks[network] = ofNetwork

        var ofAccount = accounts[account] ?? FailureCount()
        ofAccount.limitTimes(to: now, with: accountSteps)
        // The same outdated password counts once, also when a device moves between networks.
        if ofAccount.count(digest, at: now, with: accountSteps) {
            accounts[account] = ofAccount
        }
    }

    /// Clears the failures of this network on this account only. An attacker who logs in to an
    /// account of their own must not get new free tries on other accounts.
    mutating func recordSuccess(
        _ account: AccountKey, from network: IPBlock, at instant: Instant
    ) {
        advance(to: instant)
        origins[Origin(account: account, network: network)] = nil
        let others = (knownNetworks[account] ?? []).filter { $0 != network }
        knownNetworks[account] = [network] + others.prefix(Self.maximumKnownNetworks - 1)
    }

    /// The delay after the failures of one origin. For a network that is not known, the failures of
    /// others on the account count as well.
    private func delay(
        after ofOrigin: FailureCount, on account: AccountKey, isKnown: Bool, at now: Int64
    ) -> Int64 {
        let failures = ofOrigin.failures(at: now)
        let own = originSteps.delay(after: failures)
        guard failures > 0, !isKnown, var ofAccount = accounts[account] else { return own }
        ofAccount.limitTimes(to: now, with: accountSteps)
        return max(own, accountSteps.delay(after: ofAccount.failures(at: now)))
    }

    /// - Returns: `now` in milliseconds, limited so that sums with it cannot overflow.
    @discardableResult
    private mutating func advance(to now: Instant) -> Int64 {
        origins.advance(to: now)
        networks.advance(to: now)
        accounts.advance(to: now)
        knownNetworks.advance(to: now)
        let bound = Int64.max / 8
        return min(max(now.milliseconds, -bound), bound)
    }
}
