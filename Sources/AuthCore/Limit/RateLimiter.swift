internal import Synchronization

/// How much of its allowance a client has left: what the `RateLimit-*` fields say.
public struct RateStatus: Equatable, Sendable {
    /// Requests that may come at once.
    public let limit: Int
    /// How many of them are left.
    public let remaining: Int
    /// Whole seconds until all of them are there again.
    public let secondsToReset: Int

    public init(limit: Int, remaining: Int, secondsToReset: Int) {
        self.limit = limit
        self.remaining = remaining
        self.secondsToReset = secondsToReset
    }
}

/// Token buckets by class and client network, an IPv4 address or an IPv6 /64 (contract section 2,
/// "Rate limits").
///
/// Memory is bounded, and nobody can reset a bucket or fill another's; see ``TokenBuckets``.
public final class RateLimiter: Sendable {
    /// What is limited together.
    public enum Class: Hashable, CaseIterable, Sendable {
        /// Everything without a verified token, and verified free tokens: one bucket.
        case general
        /// Requests with a verified Pro token.
        case pro
        /// Free account creation and agent signup.
        case creation
        /// Pro account creation.
        case proCreation
        /// Registration, login and logout of the hash-login surface, each of which makes the server
        /// ask another one.
        case hashLogin

        /// The contract's numbers.
        var defaultRate: Rate {
            switch self {
            case .general: Rate(8, per: .seconds(1))
            case .pro: Rate(20, per: .seconds(1))
            case .creation: Rate(1, per: .seconds(8))
            case .proCreation: Rate(8, per: .seconds(1))
            case .hashLogin: Rate(1, per: .seconds(1), burst: 5)
            }
        }
    }

    /// So many requests in so much time, and so many of them at once.
    public struct Rate: Equatable, Sendable {
        public let burst: Int
        let microsecondsPerToken: Int64

        /// - Parameters:
        ///   - count: 1 to 1,000,000; what is beyond is taken for the bound.
        ///   - period: between a microsecond and a day for each of `count`, taken likewise.
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

    /// What the operator sets.
    public struct Settings: Equatable, Sendable {
        /// Off lets everything through.
        public var isEnabled: Bool
        /// Where a class is missing its ``Class/defaultRate`` holds.
        public var rates: [Class: Rate]
        /// Client networks watched at once in each class.
        public var capacity: Int

        public init(isEnabled: Bool = true, rates: [Class: Rate] = [:], capacity: Int = 65_536) {
            self.isEnabled = isEnabled
            self.rates = rates
            self.capacity = max(1, capacity)
        }
    }

    /// One class with a lock of its own, so that classes do not wait for each other.
    private final class Lane: Sendable {
        let rate: Rate
        let buckets: Mutex<TokenBuckets>

        init(rate: Rate, capacity: Int) {
            self.rate = rate
            buckets = Mutex(TokenBuckets(rate: rate, capacity: capacity))
        }
    }

    private let lanes: [Class: Lane]

    public init(settings: Settings) {
        var lanes: [Class: Lane] = [:]
        for limit in Class.allCases where settings.isEnabled {
            lanes[limit] = Lane(
                rate: settings.rates[limit] ?? limit.defaultRate, capacity: settings.capacity)
        }
        self.lanes = lanes
    }

    /// Takes one token from the client's bucket.
    /// - Returns: what is left, or `nil` where nothing is counted.
    /// - Throws: ``Refusal/tooManyRequests(retryAfter:)`` with whole seconds, at least one, after
    ///   which there is a token again.
    @discardableResult
    public func take(
        _ limit: Class, for client: ClientAddress, at now: Instant
    ) throws(Refusal) -> RateStatus? {
        guard let lane = lanes[limit], let draw = try draw(from: lane, for: client, at: now) else {
            return nil
        }
        let interval = lane.rate.microsecondsPerToken
        let taken = (draw.debt + interval - 1) / interval
        return RateStatus(
            limit: lane.rate.burst, remaining: lane.rate.burst - Int(taken),
            secondsToReset: Int(Self.wholeSeconds(draw.debt)))
    }

    /// Takes a place in `limit`'s bucket for `body`, and gives it back when `body` throws: what
    /// failed does not count.
    public func reserving<T>(
        _ limit: Class, for caller: Caller, _ body: () async throws -> T
    ) async throws -> T {
        guard let lane = lanes[limit],
            let draw = try draw(from: lane, for: caller.client, at: caller.now)
        else { return try await body() }
        do {
            return try await body()
        } catch {
            lane.buckets.withLock { $0.giveBack(draw) }
            throw error
        }
    }

    private func draw(
        from lane: Lane, for client: ClientAddress, at now: Instant
    ) throws(Refusal) -> TokenBuckets.Draw? {
        switch lane.buckets.withLock({ $0.draw(for: client, at: now) }) {
        case .drawn(let draw): return draw
        case .uncounted: return nil
        case .empty(let wait):
            let reset = wait + Int64(lane.rate.burst - 1) * lane.rate.microsecondsPerToken
            throw .tooManyRequests(
                retryAfter: .seconds(max(1, Self.wholeSeconds(wait))),
                standing: RateStatus(
                    limit: lane.rate.burst, remaining: 0,
                    secondsToReset: Int(Self.wholeSeconds(reset))))
        }
    }

    /// Rounded up.
    private static func wholeSeconds(_ microseconds: Int64) -> Int64 {
        (microseconds + 999_999) / 1_000_000
    }
}
