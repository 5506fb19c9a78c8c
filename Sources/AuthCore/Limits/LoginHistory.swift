internal import Networking

/// The failed logins that ``LoginThrottle`` remembers, and the waits that follow from them.
///
/// An attempt is counted when it begins and stays counted unless it succeeds or could not be
/// checked. An attempt that has to wait is not counted. The counts that an attempt belongs to are
/// listed in ``Scope``; each has its own ``DelaySteps``.
///
/// Memory is bounded: a full table drops the entries that were written longest ago. An attacker
/// that wants its own failures dropped that way needs more attempts than it gains.
struct LoginHistory: Sendable {
    /// A keyed digest of an account's name.
    struct AccountKey: Hashable, Sendable {
        let high, low: UInt64
    }

    /// The groups by which failures are counted.
    private enum Scope: Hashable {
        case client(AccountKey, IPBlock)
        case site(AccountKey, IPBlock)
        case account(AccountKey)
        /// A client over all accounts: catches one password tried on many accounts.
        case allAccounts(IPBlock)
    }

    private let clientSteps: DelaySteps
    private let siteSteps: DelaySteps
    private let accountSteps: DelaySteps
    private let allAccountsSteps: DelaySteps
    private var counts: RecentTable<Scope, FailureCount>

    init(settings: LoginThrottle.Settings) {
        func steps(_ freeTries: Int, per period: Duration) -> DelaySteps {
            DelaySteps(freeTries: freeTries, per: period, maximum: settings.maximumDelay)
        }
        clientSteps = steps(settings.clientTries, per: .seconds(300))
        siteSteps = steps(settings.siteTries, per: .seconds(600))
        accountSteps = steps(settings.accountTries, per: .seconds(600))
        allAccountsSteps = steps(settings.allAccountsTries, per: .seconds(1200))
        let longest =
            [clientSteps, siteSteps, accountSteps, allAccountsSteps]
            .map(\.longestDecay).max() ?? 1
        counts = RecentTable(period: .milliseconds(longest), capacity: settings.capacity)
    }

    /// The number of entries.
    var count: Int { counts.count }

    /// Counts an attempt, unless it has to wait.
    /// - Parameter isKnown: whether the client has logged in to the account lately. Then only its
    ///   own failures on this account make it wait.
    /// - Returns: the milliseconds to wait; 0 when the attempt may be checked now. The caller must
    ///   then call ``end(_:from:isKnown:as:begunAt:)``.
    mutating func begin(
        _ account: AccountKey, from client: IPAddress, isKnown: Bool,
        at instant: ContinuousClock.Instant
    ) -> Int64 {
        let now = advance(to: instant)
        var found: [(scope: Scope, count: FailureCount)] = []
        var wait: Int64 = 0
        for scope in scopes(of: account, from: client, isKnown: isKnown) {
            let steps = steps(of: scope)
            var count = counts[scope] ?? FailureCount()
            count.limitTimes(to: now, with: steps)
            let failures = count.failures(at: now, with: steps)
            // A program may open many connections at once. For a known client, attempts without a
            // result count only after the free failures are used up.
            let isPendingFree = isKnown && failures < Int64(steps.freeTries)
            let delay = steps.delay(after: failures + (isPendingFree ? 0 : count.pending))
            wait = max(wait, count.wait(delay, at: now))
            found.append((scope, count))
        }
        guard wait == 0 else { return wait }
        for (scope, before) in found {
            var count = before
            count.begin(at: now)
            counts[scope] = count
        }
        return 0
    }

    /// Ends an attempt. A success clears the failures of this client on this account only: an
    /// attacker who logs in to an account of their own must not get new free tries on others.
    /// - Parameters:
    ///   - isKnown: as for ``begin(_:from:isKnown:at:)``.
    ///   - start: when the attempt began.
    mutating func end(
        _ account: AccountKey, from client: IPAddress, isKnown: Bool,
        as outcome: LoginThrottle.Outcome, begunAt start: ContinuousClock.Instant
    ) {
        let start = advance(to: start)
        for scope in scopes(of: account, from: client, isKnown: isKnown) {
            let steps = steps(of: scope)
            var count = counts[scope] ?? FailureCount()
            count.end(isFailure: outcome == .failed, begunAt: start, with: steps)
            if case .client = scope, outcome == .succeeded { count.clearFailures() }
            let isZero = count.pending == 0 && count.failures(at: start, with: steps) == 0
            counts[scope] = isZero ? nil : count
        }
    }

    private func scopes(
        of account: AccountKey, from client: IPAddress, isKnown: Bool
    ) -> [Scope] {
        isKnown
            ? [.client(account, client.client)]
            : [
                .client(account, client.client), .site(account, client.site), .account(account),
                .allAccounts(client.client),
            ]
    }

    private func steps(of scope: Scope) -> DelaySteps {
        switch scope {
        case .client: clientSteps
        case .site: siteSteps
        case .account: accountSteps
        case .allAccounts: allAccountsSteps
        }
    }

    /// - Returns: `now` in milliseconds, limited so that sums with it cannot overflow.
    private mutating func advance(to now: ContinuousClock.Instant) -> Int64 {
        counts.advance(to: now)
        let bound = Int64.max / 8
        return min(max(now.milliseconds, -bound), bound)
    }
}
