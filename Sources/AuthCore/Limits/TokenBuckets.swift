internal import Networking

/// The token buckets of one class of requests, by client network.
///
/// A bucket is stored as the time at which it will be full again, in microseconds (the generic cell
/// rate algorithm, ITU-T I.371). A full bucket needs no entry. Every bucket is full when nothing
/// was drawn for the time that filling it takes, so the table holds only the clients of that time.
///
/// No entry is dropped before its bucket is full, so a client cannot reset its own bucket. While
/// the table has fewer than `capacity` entries, a new client gets its own bucket. Above that, new
/// clients share the bucket of their site (up to 1.25 × `capacity` entries), then that of their
/// region (up to 1.5 × `capacity`). Above that they are not counted, because rejecting them would
/// let an attacker lock out everybody else. A client that uses many networks of one IPv6 /32 thus
/// ends up in the one bucket of that region.
struct TokenBuckets: Sendable {
    /// A token that was taken, so that it can be given back.
    struct Draw: Sendable {
        let network: IPBlock
        let time: Int64
        /// Microseconds until the bucket is full.
        let timeToFull: Int64
    }

    enum Outcome: Sendable {
        case drawn(Draw)
        /// The bucket has no whole token for another `wait` microseconds.
        case empty(wait: Int64)
        /// The table is full, so this client is not counted.
        case uncounted
    }

    private struct Bucket {
        /// The last time at which it was full. Tokens that were taken before have been refilled
        /// since.
        var lastFull: Int64
        var fullAt: Int64
    }

    /// Microseconds in which one token is added.
    private let interval: Int64
    /// Microseconds in which an empty bucket fills.
    private let depth: Int64
    private let capacity: Int
    private var buckets: RecentTable<IPBlock, Bucket>

    init(rate: RateLimiter.Rate, capacity: Int) {
        interval = rate.microsecondsPerToken
        depth = interval * Int64(rate.burst)
        self.capacity = capacity
        // The table counts in whole milliseconds, so the period is `depth` rounded up.
        buckets = RecentTable(period: .microseconds(depth + 999))
    }

    var count: Int { buckets.count }

    mutating func draw(for client: IPAddress, at now: ContinuousClock.Instant) -> Outcome {
        buckets.advance(to: now)
        guard let (network, found) = entry(for: client) else { return .uncounted }
        let time = Self.microseconds(now)
        var bucket = found ?? Bucket(lastFull: time, fullAt: time)
        if bucket.fullAt <= time { bucket = Bucket(lastFull: time, fullAt: time) }
        if bucket.fullAt > time + depth || bucket.lastFull > time {
            // Requests of several loops may arrive out of order. The bucket must not stay empty for
            // longer than filling takes.
            bucket = Bucket(lastFull: time, fullAt: min(bucket.fullAt, time + depth))
            buckets[network] = bucket
        }
        let fullAt = bucket.fullAt + interval
        guard fullAt - time <= depth else { return .empty(wait: fullAt - time - depth) }
        bucket.fullAt = fullAt
        buckets[network] = bucket
        return .drawn(Draw(network: network, time: time, timeToFull: fullAt - time))
    }

    /// Gives a token back. Nothing happens if the bucket was full since, because the token has been
    /// refilled already.
    mutating func giveBack(_ draw: Draw) {
        guard var bucket = buckets[draw.network], bucket.lastFull <= draw.time else { return }
        bucket.fullAt -= interval
        buckets[draw.network] = bucket
    }

    /// The network that the client is counted with, and its bucket if there is an entry.
    private func entry(for client: IPAddress) -> (network: IPBlock, found: Bucket?)? {
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

    /// Saturates after about 70,000 years, so that sums with `depth` cannot overflow.
    private static func microseconds(_ now: ContinuousClock.Instant) -> Int64 {
        let bound = Int64.max / 4000
        return min(max(now.milliseconds, -bound), bound) * 1000
    }
}
