public import Networking
internal import Scheduling
internal import Synchronization

/// Token buckets by class and client, an IPv4 address or an IPv6 /64 (docs/api.md, "Rate limits").
///
/// Memory is bounded. No client can reset its own bucket or empty the bucket of another client
/// (``TokenBuckets``). Time is that of the monotonic clock: setting the wall clock makes no client
/// wait.
public final class RateLimiter: Sendable {
    /// Requests that share a bucket.
    public enum Class: String, CaseIterable, Sendable {
        /// Every request, before anything of it is verified or looked up.
        case client
        /// Requests without a verified token, and those with a verified free token: one bucket.
        case general
        /// Requests with a verified Pro token.
        case pro
        /// Free account creation and agent signup.
        case creation
        /// Pro account creation.
        case proCreation = "pro_creation"
        /// Registration, login and logout of the hash-login API, each of which makes this server
        /// send a request to another one.
        case hashLogin = "hash_login"

        var defaultRate: Rate {
            switch self {
            case .client: Rate(20, per: .seconds(1))
            case .general: Rate(8, per: .seconds(1))
            case .pro: Rate(20, per: .seconds(1))
            case .creation: Rate(1, per: .seconds(8))
            case .proCreation: Rate(8, per: .seconds(1))
            case .hashLogin: Rate(1, per: .seconds(1), burst: 5)
            }
        }
    }

    /// A number of requests per time, and how many may come at once.
    public struct Rate: Equatable, Sendable {
        public let burst: Int
        let microsecondsPerToken: Int64

        /// - Parameters:
        ///   - count: 1 to 1,000,000; values beyond are set to the bound.
        ///   - period: between a microsecond and a day for each of `count`, limited likewise.
        ///   - burst: one second's worth unless given, and at least 1.
        public init(_ count: Int, per period: Duration, burst: Int? = nil) {
            let most = 1_000_000
            let count = min(max(count, 1), most)
            let longest = Duration.seconds(86_400)
            let each = min(max(period / count, .microseconds(1)), longest)
            microsecondsPerToken =
                each.components.seconds * 1_000_000
                + each.components.attoseconds / 1_000_000_000_000
            let aSecondsWorth = Int(1_000_000 / microsecondsPerToken)
            self.burst = min(max(burst ?? aSecondsWorth, 1), most)
        }
    }

    /// The operator's settings.
    public struct Settings: Equatable, Sendable {
        /// When false nothing is limited.
        public var isEnabled: Bool
        /// A class without an entry has its default rate (docs/api.md, "Rate limits").
        public var rates: [Class: Rate]
        /// How many clients have a bucket of their own in each class.
        public var capacity: Int

        public init(isEnabled: Bool = true, rates: [Class: Rate] = [:], capacity: Int = 65_536) {
            self.isEnabled = isEnabled
            self.rates = rates
            self.capacity = max(1, capacity)
        }
    }

    /// The buckets of one class, with a separate lock, so that classes do not wait for each other.
    private final class ClassBuckets: Sendable {
        let rate: Rate
        /// Requests that found their bucket empty.
        let rejections: Counter
        let table: Mutex<TokenBuckets>

        init(rate: Rate, capacity: Int, rejections: Counter = Counter()) {
            self.rate = rate
            self.rejections = rejections
            table = Mutex(TokenBuckets(rate: rate, capacity: capacity))
        }
    }

    private let classes: [Class: ClassBuckets]

    /// - Parameter earlier: its counts are kept in the classes whose rate is the same. In the
    ///   others every client begins with a full bucket. ``rejections(of:)`` of either returns the
    ///   sum of both.
    public init(settings: Settings, keeping earlier: RateLimiter? = nil) {
        var classes: [Class: ClassBuckets] = [:]
        for limit in Class.allCases where settings.isEnabled {
            let rate = settings.rates[limit] ?? limit.defaultRate
            let kept = earlier?.classes[limit]
            if let kept, kept.rate == rate {
                classes[limit] = kept
            } else {
                classes[limit] = ClassBuckets(
                    rate: rate, capacity: settings.capacity,
                    rejections: kept?.rejections ?? Counter())
            }
        }
        self.classes = classes
    }

    /// False if nothing is limited.
    var isEnabled: Bool { !classes.isEmpty }

    /// How many requests of a class were rejected, since the start.
    public func rejections(of limit: Class) -> Int { classes[limit]?.rejections.value ?? 0 }

    /// The time between two requests of a class in which one client may send one at a time; `nil`
    /// if more may come at once, or nothing is limited.
    func interval(of limit: Class) -> Duration? {
        guard let rate = classes[limit]?.rate, rate.burst == 1 else { return nil }
        return .microseconds(rate.microsecondsPerToken)
    }

    /// Takes one token from the client's bucket.
    /// - Returns: the state of the bucket; `nil` when the request is not counted.
    /// - Throws: ``RateLimited`` when the bucket is empty.
    @discardableResult
    public func take(
        _ limit: Class, for client: IPAddress, at now: ContinuousClock.Instant
    ) throws(RateLimited) -> RateLimitStatus? {
        guard let buckets = classes[limit], let draw = try draw(from: buckets, for: client, at: now)
        else { return nil }
        let interval = buckets.rate.microsecondsPerToken
        let taken = (draw.timeToFull + interval - 1) / interval
        return RateLimitStatus(
            limit: buckets.rate.burst, remaining: buckets.rate.burst - Int(taken),
            secondsToReset: Int(Self.wholeSeconds(draw.timeToFull)))
    }

    /// Takes one token for work that may still fail. ``Reservation/cancel()`` gives it back.
    /// - Throws: ``RateLimited`` when the bucket is empty.
    public func reserve(
        _ limit: Class, for caller: Caller
    ) throws(RateLimited) -> Reservation {
        guard let buckets = classes[limit],
            let draw = try draw(from: buckets, for: caller.address, at: caller.arrival)
        else { return Reservation {} }
        return Reservation { buckets.table.withLock { $0.giveBack(draw) } }
    }

    /// A token that was taken in advance.
    public struct Reservation: Sendable {
        fileprivate let giveBack: @Sendable () -> Void

        /// Gives the token back, for a request that failed.
        public func cancel() { giveBack() }
    }

    private func draw(
        from buckets: ClassBuckets, for client: IPAddress, at now: ContinuousClock.Instant
    ) throws(RateLimited) -> TokenBuckets.Draw? {
        switch buckets.table.withLock({ $0.draw(for: client, at: now) }) {
        case .drawn(let draw): return draw
        case .uncounted: return nil
        case .empty(let wait):
            buckets.rejections.add()
            let reset = wait + Int64(buckets.rate.burst - 1) * buckets.rate.microsecondsPerToken
            throw RateLimited(
                retryAfter: .seconds(max(1, Self.wholeSeconds(wait))),
                status: RateLimitStatus(
                    limit: buckets.rate.burst, remaining: 0,
                    secondsToReset: Int(Self.wholeSeconds(reset))))
        }
    }

    /// Rounded up.
    private static func wholeSeconds(_ microseconds: Int64) -> Int64 {
        (microseconds + 999_999) / 1_000_000
    }
}
