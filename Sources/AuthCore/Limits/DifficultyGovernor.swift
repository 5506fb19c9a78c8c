public import Networking
internal import Synchronization

/// Chooses the difficulty of each agent challenge.
///
/// The difficulty is the base, plus one bit for each doubling of recent requests beyond an
/// allowance, up to a maximum. Requests are counted for the client's site and for all clients
/// together; the higher result counts. A site adds no more to the count of all than one client at
/// its full rate, so an attacker with an IPv6 /48 cannot raise the difficulty of others. The
/// difficulty falls again when the requests stop.
///
/// Memory is bounded: sites share the slots of a table by a hash. The hash is seeded at start, so
/// that a client cannot choose addresses that share the slot of another site. Two sites in one slot
/// are counted together, so both may get a higher difficulty.
public final class DifficultyGovernor: Sendable {
    /// What the operator sets.
    public struct Settings: Equatable, Sendable {
        /// Leading zero bits of a challenge for a client that stays within the allowances.
        public var base: Int
        /// The greatest difficulty.
        public var maximum: Int
        /// The decayed count of requests above which the difficulty rises for a site.
        public var siteAllowance: Double
        /// The decayed count of all requests above which the difficulty rises for every client.
        public var serverAllowance: Double
        /// The time in which the weight of a past request halves.
        public var halfLife: Duration
        /// The rate up to which requests of one site count among those of all clients; `nil` when
        /// all count.
        public var siteRate: RateLimiter.Rate?

        public init(
            base: Int = 6, maximum: Int = 10, siteAllowance: Double = 32,
            serverAllowance: Double = 2048, halfLife: Duration = .seconds(60),
            siteRate: RateLimiter.Rate? = nil
        ) {
            self.base = base
            self.maximum = max(base, maximum)
            self.siteAllowance = siteAllowance
            self.serverAllowance = serverAllowance
            self.halfLife = halfLife
            self.siteRate = siteRate
        }
    }

    private struct State {
        var server = DecayingCount()
        var sites: [DecayingCount]
        /// The number that each site may still add to the count of all.
        var allowances: TokenBuckets?

        /// Whether a request of the client counts among those of all.
        mutating func counts(_ client: IPAddress, at now: ContinuousClock.Instant) -> Bool {
            // One address stands for the site: a bucket belongs to a client.
            let outcome = allowances?.draw(for: client.site.first, at: now)
            if case .empty? = outcome { return false }
            return true
        }
    }

    private final class Counts: Sendable {
        let state: Mutex<State>

        init(siteRate: RateLimiter.Rate?) {
            state = Mutex(
                State(
                    sites: Array(repeating: DecayingCount(), count: DifficultyGovernor.slots),
                    allowances: siteRate.map { TokenBuckets(rate: $0, capacity: 65_536) }))
        }
    }

    private static let slots = 4096
    private let settings: Settings
    private let counts: Counts

    /// - Parameter earlier: its counts are kept, unless `siteRate` has changed.
    public init(settings: Settings, keeping earlier: DifficultyGovernor? = nil) {
        self.settings = settings
        if let earlier, earlier.settings.siteRate == settings.siteRate {
            counts = earlier.counts
        } else {
            counts = Counts(siteRate: settings.siteRate)
        }
    }

    /// Counts one request.
    /// - Returns: the difficulty of its challenge in leading zero bits.
    public func difficulty(for client: IPAddress, at now: ContinuousClock.Instant) -> Int {
        var hasher = Hasher()
        client.site.hash(into: &hasher)
        let slot = Int(UInt(bitPattern: hasher.finalize()) % UInt(Self.slots))
        let (site, server) = counts.state.withLock { state in
            let isCounted = state.counts(client, at: now)
            return (
                state.sites[slot].add(1, at: now, halfLife: settings.halfLife),
                state.server.add(isCounted ? 1 : 0, at: now, halfLife: settings.halfLife)
            )
        }
        let extra = max(
            Self.doublings(of: site, beyond: settings.siteAllowance),
            Self.doublings(of: server, beyond: settings.serverAllowance))
        return min(settings.maximum, settings.base + extra)
    }

    /// The difficulty for a client that has not asked for a challenge for some time.
    public func lowest(at now: ContinuousClock.Instant) -> Int {
        let server = counts.state.withLock { $0.server.value(at: now, halfLife: settings.halfLife) }
        return min(
            settings.maximum,
            settings.base + Self.doublings(of: server, beyond: settings.serverAllowance))
    }

    private static func doublings(of count: Double, beyond allowance: Double) -> Int {
        var extra = 0
        var rest = count
        // The bound ends the loop for any allowance; no difficulty is near 64 bits.
        while rest > allowance, extra < 64 {
            extra += 1
            rest /= 2
        }
        return extra
    }
}

/// A count that decays exponentially: it halves in each half-life.
struct DecayingCount: Sendable {
    private var value = 0.0
    private var updated: ContinuousClock.Instant?

    /// Nothing decays when `now` is before the last addition: requests of several loops may come
    /// out of their order.
    /// - Returns: the new value.
    mutating func add(_ number: Double, at now: ContinuousClock.Instant, halfLife: Duration)
        -> Double
    {
        value = value(at: now, halfLife: halfLife) + number
        updated = now
        return value
    }

    /// Nothing decays when `now` is before the last addition.
    func value(at now: ContinuousClock.Instant, halfLife: Duration) -> Double {
        let lapse = updated.map { max(0, Double($0.duration(to: now).wholeMilliseconds)) } ?? 0
        let halvings = lapse / max(1, Double(halfLife.wholeMilliseconds))
        return value * exponentOfHalf(halvings)
    }
}

/// 0.5 to the power of `exponent` (≥ 0), with an error below 1 % and without a maths library. Whole
/// halvings are exact; the fraction is approximated by a parabola that is exact at 0 and 1.
private func exponentOfHalf(_ exponent: Double) -> Double {
    guard exponent < 64 else { return 0 }
    let whole = exponent.rounded(.down)
    let fraction = exponent - whole
    let partial = 1 - fraction * (0.6715 - 0.1715 * fraction)
    return partial / Double(UInt64(1) << UInt64(whole))
}
