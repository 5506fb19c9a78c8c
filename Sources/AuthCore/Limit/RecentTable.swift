/// A table of what was touched lately: an entry that nobody has written for `period` is gone after
/// one more, without a sweep.
///
/// Entries live in two generations; writing moves one into the young generation, and with each
/// period the old one is dropped whole.
struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let periodMilliseconds: Int64
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private var turned: Int64 = .min

    init(period: Duration) {
        periodMilliseconds = max(1, period.wholeMilliseconds)
    }

    var count: Int { young.count + old.count }

    /// To be called before the table is read or written at `now`. A clock that has stepped back
    /// keeps what is there for longer.
    mutating func turn(to now: Instant) {
        let (age, overflow) = now.milliseconds.subtractingReportingOverflow(turned)
        if now.milliseconds < turned {
            turned = now.milliseconds
        } else if overflow || age >= periodMilliseconds {
            // After a second period without a turn nothing in the young one is recent either.
            old = overflow || age / 2 >= periodMilliseconds ? [:] : young
            young = [:]
            turned = now.milliseconds
        }
    }

    /// Drops the old generation before its time.
    mutating func turnEarly(at now: Instant) {
        old = young
        young = [:]
        turned = now.milliseconds
    }

    subscript(key: Key) -> Value? {
        get { young[key] ?? old[key] }
        set {
            if !old.isEmpty { old.removeValue(forKey: key) }
            young[key] = newValue
        }
    }
}
