public import Networking
internal import Synchronization

/// How hard the next agent challenge is: the base, plus a bit for every doubling of the rate at
/// which the client's site, or everybody together, is asking beyond what is usual; capped, and
/// falling back by itself when they stop.
///
/// Memory is fixed. Sites share slots of a table by a hash seeded at start, so nobody can grow it
/// or aim at another's slot; at worst two sites ask a bit more work of each other.
public final class DifficultyGovernor: Sendable {
    /// What the operator sets.
    public struct Settings: Equatable, Sendable {
        /// Leading zero bits asked of a quiet client.
        public var base: Int
        /// Never more than this.
        public var maximum: Int
        /// Challenges that one site may ask for within a half-life before its difficulty rises.
        public var siteAllowance: Double
        /// The same for all clients together.
        public var serverAllowance: Double
        /// The time after which a past request counts half.
        public var halfLife: Duration

        public init(
            base: Int = 6, maximum: Int = 10, siteAllowance: Double = 32,
            serverAllowance: Double = 2048, halfLife: Duration = .seconds(60)
        ) {
            self.base = base
            self.maximum = max(base, maximum)
            self.siteAllowance = siteAllowance
            self.serverAllowance = serverAllowance
            self.halfLife = halfLife
        }
    }

    private struct State {
        var server = DecayingCount()
        var sites: [DecayingCount]
    }

    private static let slots = 4096
    private let settings: Settings
    private let state: Mutex<State>

    public init(settings: Settings) {
        self.settings = settings
        state = Mutex(State(sites: Array(repeating: DecayingCount(), count: Self.slots)))
    }

    /// Counts one request and says how hard its challenge shall be, in leading zero bits.
    public func difficulty(for client: IPAddress, at now: Instant) -> Int {
        var hasher = Hasher()
        client.site.hash(into: &hasher)
        let slot = Int(UInt(bitPattern: hasher.finalize()) % UInt(Self.slots))
        let (site, server) = state.withLock { state in
            (
                state.sites[slot].increment(at: now, halfLife: settings.halfLife),
                state.server.increment(at: now, halfLife: settings.halfLife)
            )
        }
        let extra = max(
            Self.doublings(of: site, beyond: settings.siteAllowance),
            Self.doublings(of: server, beyond: settings.serverAllowance))
        return min(settings.maximum, settings.base + extra)
    }

    private static func doublings(of count: Double, beyond allowance: Double) -> Int {
        var extra = 0
        var rest = count
        // 64 doublings are beyond any difficulty a digest could meet.
        while rest > allowance, extra < 64 {
            extra += 1
            rest /= 2
        }
        return extra
    }
}

/// A count whose past weighs less and less: half after each half-life.
struct DecayingCount: Sendable {
    private var value = 0.0
    private var updated = Instant(milliseconds: 0)

    /// Adds one and gives the new value. A clock that steps back adds without decay.
    mutating func increment(at now: Instant, halfLife: Duration) -> Double {
        let lapse = max(0, Double(now.since(updated).wholeMilliseconds))
        let halvings = lapse / max(1, Double(halfLife.wholeMilliseconds))
        value = value * exponentOfHalf(halvings) + 1
        updated = now
        return value
    }
}

/// 0.5 to the power of `exponent` (≥ 0), to within 1 % and without a maths library: whole halvings
/// exactly, the fraction by a parabola through its ends.
private func exponentOfHalf(_ exponent: Double) -> Double {
    guard exponent < 64 else { return 0 }
    let whole = exponent.rounded(.down)
    let fraction = exponent - whole
    let partial = 1 - fraction * (0.6715 - 0.1715 * fraction)
    return partial / Double(UInt64(1) << UInt64(whole))
}
