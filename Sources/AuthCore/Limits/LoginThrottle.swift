internal import Cryptography
internal import Networking
public import Scheduling
internal import Synchronization

/// Slows down password guessing. It never locks an account.
///
/// Failed logins are counted by account and client, by account and site, by account, and by client
/// over all accounts (``LoginHistory``). After some free tries, each count makes the next attempt
/// wait: one second at first, twice as long after each further failure, up to a maximum. Each count
/// falls with time. The same wrong secret counts each time.
///
/// Failures of others cannot keep the owner out: a client that has logged in to the account within
/// ``Settings/knownPeriod`` waits for its own failures on the account only. The audit log knows
/// these clients, so they stay known after a restart and to every server of one database. Two
/// weaknesses remain:
/// - An owner who shares a client address with an attacker waits as long as the attacker.
/// - While many networks guess at one account, its owner waits as they do on a new network.
///
/// Attempts for missing accounts are counted, too, and every attempt is counted before it is
/// checked. So neither a wait nor its time shows which accounts exist.
public final class LoginThrottle: Sendable {
    /// What the operator sets.
    public struct Settings: Equatable, Sendable {
        /// When false nothing is counted or delayed.
        public var isEnabled: Bool
        /// Attempts without a wait on one account from one client, within five minutes.
        public var clientTries: Int
        /// Attempts without a wait on one account from one site, within ten minutes.
        public var siteTries: Int
        /// Attempts without a wait on one account from all clients, within ten minutes.
        public var accountTries: Int
        /// Attempts without a wait from one client on all accounts, within twenty minutes.
        public var allAccountsTries: Int
        /// The longest wait.
        public var maximumDelay: Duration
        /// How long after a login its client counts as known to the account.
        public var knownPeriod: Duration
        /// The greatest number of counts.
        public var capacity: Int

        public init(
            isEnabled: Bool = true, clientTries: Int = 5, siteTries: Int = 20,
            accountTries: Int = 100, allAccountsTries: Int = 20,
            maximumDelay: Duration = .seconds(60), knownPeriod: Duration = .seconds(2_592_000),
            capacity: Int = 131_072
        ) {
            self.isEnabled = isEnabled
            self.clientTries = clientTries
            self.siteTries = siteTries
            self.accountTries = accountTries
            self.allAccountsTries = allAccountsTries
            self.maximumDelay = maximumDelay
            self.knownPeriod = knownPeriod
            self.capacity = capacity
        }
    }

    /// How an attempt ended.
    public enum Outcome: Equatable, Sendable {
        case succeeded
        /// The secret was wrong, or the client left before the result.
        case failed
        /// The secret was not verified, because the server was busy or has a fault.
        case unchecked
    }

    private let settings: Settings
    private let key: HMACKey
    private let history: Mutex<LoginHistory>
    private let audit: any AuditLog
    private let results: Counters<LoginResult>

    /// - Parameters:
    ///   - audit: asked which clients have logged in.
    ///   - results: where attempts are counted by their end, for metrics.
    ///   - random: returns that many random bytes, fit for keys.
    public init(
        settings: Settings = Settings(), audit: any AuditLog,
        results: Counters<LoginResult> = Counters(), random: (Int) -> [UInt8]
    ) {
        self.settings = settings
        self.audit = audit
        self.results = results
        key = HMACKey(secret: random(32))
        history = Mutex(LoginHistory(settings: settings))
    }

    /// Begins an attempt to log in. Call it before the account is looked up.
    /// - Returns: the attempt, which counts as failed unless it is ended otherwise.
    /// - Throws: ``RateLimited`` when the client has to wait, or an error of the audit log.
    public func begin(_ name: LoginName, by caller: Caller) async throws -> Attempt {
        let kind = LoginResult.Kind(name)
        guard settings.isEnabled else {
            return Attempt { [results] in results.add(LoginResult(kind: kind, end: .init($0))) }
        }
        let account = accountKey(name)
        let wait = wait(account, isKnown: false, by: caller)
        if wait == 0 { return attempt(kind, account, isKnown: false, by: caller) }
        // The log is read only here, because it is not needed while the client does not have to
        // wait.
        guard try await isKnown(name, to: caller) else { throw limited(kind, wait) }
        let ownWait = self.wait(account, isKnown: true, by: caller)
        guard ownWait == 0 else { throw limited(kind, ownWait) }
        return attempt(kind, account, isKnown: true, by: caller)
    }

    /// An attempt that is counted. When it is destroyed it counts as failed, unless
    /// ``end(as:)`` has said otherwise.
    public struct Attempt: ~Copyable, Sendable {
        private let record: @Sendable (Outcome) -> Void
        private var outcome = Outcome.failed

        fileprivate init(_ record: @escaping @Sendable (Outcome) -> Void) {
            self.record = record
        }

        deinit { record(outcome) }

        public consuming func end(as outcome: Outcome) {
            self.outcome = outcome
        }

        /// Ends an attempt whose check threw `error`. A client that disconnects gets no free try.
        public consuming func end(after error: any Error) {
            outcome = error is CancellationError ? .failed : .unchecked
        }
    }

    private func attempt(
        _ kind: LoginResult.Kind, _ account: LoginHistory.AccountKey, isKnown: Bool,
        by caller: Caller
    ) -> Attempt {
        Attempt { [self] outcome in
            results.add(LoginResult(kind: kind, end: .init(outcome)))
            history.withLock {
                $0.end(
                    account, from: caller.address, isKnown: isKnown, as: outcome,
                    begunAt: caller.arrival)
            }
        }
    }

    private func wait(
        _ account: LoginHistory.AccountKey, isKnown: Bool, by caller: Caller
    ) -> Int64 {
        history.withLock {
            $0.begin(account, from: caller.address, isKnown: isKnown, at: caller.arrival)
        }
    }

    private func isKnown(_ name: LoginName, to caller: Caller) async throws -> Bool {
        try await audit.hasLoggedIn(
            name, from: caller.address.client.description,
            since: caller.now.advanced(by: .zero - settings.knownPeriod))
    }

    private func limited(_ kind: LoginResult.Kind, _ milliseconds: Int64) -> RateLimited {
        results.add(LoginResult(kind: kind, end: .throttled))
        return RateLimited(retryAfter: .seconds((milliseconds + 999) / 1000))
    }

    private func accountKey(_ name: LoginName) -> LoginHistory.AccountKey {
        let mac = key.authenticate(Array(name.key.utf8))
        return .init(high: Self.number(mac[..<8]), low: Self.number(mac[8..<16]))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
