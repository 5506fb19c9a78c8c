internal import Networking

/// The buckets of one class of requests, by client network.
///
/// A bucket is kept as the time at which it will be full again (the generic cell rate algorithm),
/// in microseconds; a full one needs no entry, and any bucket is full once nobody has drawn on it
/// for as long as filling it takes. So the table holds only who came within the last seconds.
///
/// No entry is ever dropped while it says anything, so nobody can have his own bucket forgotten.
/// Beyond `capacity` entries newcomers are counted with their site, then with their region, of
/// which there are few; should there be no room for that either they go uncounted, because turning
/// away whom we do not know would let an attacker shut out everybody else. A holder of an IPv6 /32
/// who comes from each of its networks thus ends up in one bucket, and shares it with nobody else.
struct TokenBuckets: Sendable {
    /// One draw, for giving it back.
    struct Draw: Sendable {
        let network: IPBlock
        let time: Int64
        /// How long until the bucket is full.
        let debt: Int64
    }

    enum Outcome: Sendable {
        case drawn(Draw)
        /// The bucket has no whole token for so many microseconds.
        case empty(wait: Int64)
        case uncounted
    }

    private struct Bucket {
        /// When it was last full. What was drawn before that has been made good since.
        var busySince: Int64
        var fullAt: Int64
    }

    private let interval: Int64
    private let depth: Int64
    private let capacity: Int
    private var buckets: RecentTable<IPBlock, Bucket>

    init(rate: RateLimiter.Rate, capacity: Int) {
        interval = rate.microsecondsPerToken
        depth = interval * Int64(rate.burst)
        self.capacity = capacity
        // Never less than `depth`, though the table counts in milliseconds.
        buckets = RecentTable(period: .microseconds(depth + 999))
    }

    var count: Int { buckets.count }

    mutating func draw(for client: IPAddress, at now: Instant) -> Outcome {
        buckets.turn(to: now)
        guard let (network, found) = place(of: client) else { return .uncounted }
        let time = Self.microseconds(now)
        var bucket = found ?? Bucket(busySince: time, fullAt: time)
        if bucket.fullAt <= time { bucket = Bucket(busySince: time, fullAt: time) }
        if bucket.fullAt > time + depth || bucket.busySince > time {
            // A clock that stepped back must not leave it empty for longer than filling takes.
            bucket = Bucket(busySince: time, fullAt: min(bucket.fullAt, time + depth))
            buckets[network] = bucket
        }
        let fullAt = bucket.fullAt + interval
        guard fullAt - time <= depth else { return .empty(wait: fullAt - time - depth) }
        bucket.fullAt = fullAt
        buckets[network] = bucket
        return .drawn(Draw(network: network, time: time, debt: fullAt - time))
    }

    /// What was drawn and has been made good by time already is not given twice.
    mutating func giveBack(_ draw: Draw) {
        guard var bucket = buckets[draw.network], bucket.busySince <= draw.time else { return }
        bucket.fullAt -= interval
        buckets[draw.network] = bucket
    }

    private func place(of client: IPAddress) -> (network: IPBlock, found: Bucket?)? {
        let own = client.client
        if let found = buckets[own] { return (own, found) }
        if buckets.count < capacity { return (own, nil) }
        let site = client.site
        if let found = buckets[site] { return (site, found) }
        if buckets.count < capacity / 4 * 5 { return (site, nil) }
        let region = client.region
        if let found = buckets[region] { return (region, found) }
        return buckets.count < capacity / 2 * 3 ? (region, nil) : nil
    }

    /// Saturates some 70,000 years from 1970, where sums with a depth are still far from overflow.
    private static func microseconds(_ now: Instant) -> Int64 {
        let bound = Int64.max / 4000
        return min(max(now.milliseconds, -bound), bound) * 1000
    }
}
