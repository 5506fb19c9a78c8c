/// A table of what was touched lately: an entry that nobody has written for `period` is gone after
/// one more, without a sweep.
///
/// Entries live in two generations; writing moves one into the young generation, and with each
/// period the old one is dropped whole.
struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let periodMilliseconds: Int64
    /// Half of what the table may hold; a young generation that has grown to it turns old early.
    private let generation: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private var turned: Int64 = .min

    /// - Parameter capacity: the entries beyond which those that were not written for longest are
    ///   dropped; no bound unless given, for a table whose user keeps one.
    init(period: Duration, capacity: Int = .max) {
        periodMilliseconds = max(1, period.wholeMilliseconds)
        generation = max(1, capacity / 2)
    }

    var count: Int { young.count + old.count }

    /// To be called before the table is read or written at `now`. A clock that has stepped back
    /// keeps what is there for longer.
    mutating func turn(to now: Instant) {
        let (age, overflow) = now.milliseconds.subtractingReportingOverflow(turned)
        let isStale = overflow || age / 2 >= periodMilliseconds
        if now.milliseconds < turned {
            turned = now.milliseconds
        } else if isStale || age >= periodMilliseconds || young.count >= generation {
            // After a second period without a turn nothing in the young one is recent either.
            old = isStale ? [:] : young
            young = [:]
            turned = now.milliseconds
        }
    }

    subscript(key: Key) -> Value? {
        get { young[key] ?? old[key] }
        set {
            if !old.isEmpty { old.removeValue(forKey: key) }
            young[key] = newValue
        }
    }
}
