/// A table of entries that were written recently. An entry is kept for one `period` after it was
/// last written, and is removed after at most two. No timer is needed.
///
/// Entries are kept in two generations. A write puts the entry into the young generation. At the
/// end of each period the old generation is dropped and the young one becomes the old one.
///
/// The caller must call ``advance(to:)`` before it reads or writes.
struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let periodMilliseconds: Int64
    /// The size at which the young generation becomes the old one early: half of the capacity.
    private let generationCapacity: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    /// When the young generation was begun.
    private var begun: Int64 = .min

    /// - Parameter capacity: beyond this many entries, those written longest ago are dropped.
    ///   Without it the table has no bound, and its user must limit it.
    init(period: Duration, capacity: Int = .max) {
        periodMilliseconds = max(1, period.wholeMilliseconds)
        generationCapacity = max(1, capacity / 2)
    }

    var count: Int { young.count + old.count }

    /// Drops what is too old at `now`. When an earlier time comes after a later one, entries are
    /// kept longer.
    mutating func advance(to now: ContinuousClock.Instant) {
        let (age, overflow) = now.milliseconds.subtractingReportingOverflow(begun)
        let isStale = overflow || age / 2 >= periodMilliseconds
        if now.milliseconds < begun {
            begun = now.milliseconds
        } else if isStale || age >= periodMilliseconds || young.count >= generationCapacity {
            // After two periods the young generation has no recent entries either.
            old = isStale ? [:] : young
            young = [:]
            begun = now.milliseconds
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
