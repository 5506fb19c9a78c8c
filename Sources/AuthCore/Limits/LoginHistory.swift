internal import Networking

/// What ``LoginThrottle`` remembers, and the decisions that follow from it.
///
/// Three counts, each with its ladder of delays: an account from one network; a network over all
/// accounts (many accounts with one password each); an account over all networks. The last only
/// takes the free tries from networks that never logged in to the account, so the first try of a
/// network nobody has failed from is always admitted, however many others are failing.
///
/// An entry is made only by a failure or a success, each of which has cost a password hash: nobody
/// fills the tables faster than the hashing pool allows. A full table forgets what was not written
/// for longest; to have his own failures forgotten so, an attacker spends more tries than he gains.
struct LoginHistory: Sendable {
    /// A keyed digest of an account's name.
    struct AccountKey: Hashable, Sendable {
        let high, low: UInt64
    }

    private struct Visitor: Hashable, Sendable {
        let account: AccountKey
        let network: IPBlock
    }

    /// What an account remembers of the networks it was opened from, the latest first.
    private static let knownNetworks = 8

    private let visitorLadder: DelayLadder
    private let networkLadder: DelayLadder
    private let accountLadder: DelayLadder
    private var visitors: RecentTable<Visitor, FailureCount>
    private var networks: RecentTable<IPBlock, FailureCount>
    private var accounts: RecentTable<AccountKey, FailureCount>
    private var known: RecentTable<AccountKey, [IPBlock]>

    init(settings: LoginThrottle.Settings) {
        visitorLadder = DelayLadder(
            freeTries: settings.freeTries, maximum: settings.maximumDelay)
        networkLadder = DelayLadder(
            freeTries: settings.networkFreeTries, maximum: settings.maximumDelay)
        accountLadder = DelayLadder(
            freeTries: settings.accountFreeTries, maximum: settings.strangerDelay)
        let capacity = settings.capacity
        func table<Key>(_ ladder: DelayLadder) -> RecentTable<Key, FailureCount> {
            RecentTable(
                period: .milliseconds(max(1, ladder.height) * FailureCount.forgiveness),
                capacity: capacity)
        }
        visitors = table(visitorLadder)
        networks = table(networkLadder)
        accounts = table(accountLadder)
        known = RecentTable(period: settings.acquaintance, capacity: capacity)
    }

    /// Entries of all tables.
    var count: Int { visitors.count + networks.count + accounts.count + known.count }

    /// - Returns: the milliseconds to wait; 0 when the attempt may go on.
    mutating func check(
        _ account: AccountKey, from network: IPBlock, at instant: Instant
    ) -> Int64 {
        let now = turn(to: instant)
        let isKnown = known[account]?.contains(network) ?? false
        let visitor = Visitor(account: account, network: network)
        var visits = visitors[visitor] ?? FailureCount()
        var all = networks[network] ?? FailureCount()
        visits.settle(at: now, under: visitorLadder)
        all.settle(at: now, under: networkLadder)

        let visitDelay = delay(of: visits, on: account, isKnown: isKnown, at: now)
        let networkDelay = isKnown ? 0 : networkLadder.delay(after: all.failures(at: now))
        let wait = max(visits.wait(visitDelay, at: now), all.wait(networkDelay, at: now))
        if wait == 0 {
            visits.hold(for: visitDelay, at: now)
            all.hold(for: networkDelay, at: now)
        }
        if visitDelay > 0 { visitors[visitor] = visits }
        if networkDelay > 0 { networks[network] = all }
        return wait
    }

    mutating func recordFailure(
        _ account: AccountKey, secret digest: UInt64, from network: IPBlock,
        at instant: Instant
    ) {
        let now = turn(to: instant)
        let visitor = Visitor(account: account, network: network)
        var visits = visitors[visitor] ?? FailureCount()
        visits.settle(at: now, under: visitorLadder)
        guard visits.count(digest, at: now, under: visitorLadder) else { return }
        visitors[visitor] = visits

        var all = networks[network] ?? FailureCount()
        all.settle(at: now, under: networkLadder)
        all.add(at: now, under: networkLadder)
        networks[network] = all

        var everywhere = accounts[account] ?? FailureCount()
        everywhere.settle(at: now, under: accountLadder)
        // A device with a stale password that moves between networks is news once.
        if everywhere.count(digest, at: now, under: accountLadder) {
            accounts[account] = everywhere
        }
    }

    /// Forgives the network's failures on this account, and no others: a success on his own
    /// account shall not buy an attacker new tries on everybody else's.
    mutating func recordSuccess(
        _ account: AccountKey, from network: IPBlock, at instant: Instant
    ) {
        turn(to: instant)
        visitors[Visitor(account: account, network: network)] = nil
        let others = (known[account] ?? []).filter { $0 != network }
        known[account] = [network] + others.prefix(Self.knownNetworks - 1)
    }

    private func delay(
        of visits: FailureCount, on account: AccountKey, isKnown: Bool, at now: Int64
    ) -> Int64 {
        let failures = visits.failures(at: now)
        let own = visitorLadder.delay(after: failures)
        guard failures > 0, !isKnown, var everywhere = accounts[account] else { return own }
        everywhere.settle(at: now, under: accountLadder)
        return max(own, accountLadder.delay(after: everywhere.failures(at: now)))
    }

    @discardableResult
    private mutating func turn(to now: Instant) -> Int64 {
        visitors.turn(to: now)
        networks.turn(to: now)
        accounts.turn(to: now)
        known.turn(to: now)
        let bound = Int64.max / 8
        return min(max(now.milliseconds, -bound), bound)
    }
}
