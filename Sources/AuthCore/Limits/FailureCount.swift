/// How long a run of failures makes the next attempt wait: nothing for the first few, then a
/// second, doubled with each further failure up to a bound that is never passed.
struct DelayLadder: Equatable, Sendable {
    let freeTries: Int
    let maximum: Int64

    /// - Parameters:
    ///   - freeTries: 0 to 10,000; what is beyond is taken for the bound.
    ///   - maximum: 0 to a day, taken likewise.
    init(freeTries: Int, maximum: Duration) {
        self.freeTries = min(max(0, freeTries), 10_000)
        self.maximum = min(max(0, maximum.wholeMilliseconds), 86_400_000)
    }

    /// In milliseconds, counted from the last failure.
    func delay(after failures: Int64) -> Int64 {
        let step = failures - Int64(freeTries)
        return step < 0 ? 0 : min(maximum, 1000 << min(step, 40))
    }

    /// Beyond this many failures nothing gets slower, so no more are remembered.
    var height: Int64 {
        var steps: Int64 = 0
        while delay(after: Int64(freeTries) + steps) < maximum { steps += 1 }
        return Int64(freeTries) + steps
    }
}

/// The failures of one party, of which each minute forgives one.
///
/// Times are milliseconds of ``Instant``, so far from the ends of their range that sums are safe.
struct FailureCount: Sendable {
    static let forgiveness: Int64 = 60_000
    /// The longest that an attempt still under way keeps the next one out; a hash takes less.
    private static let longestHold: Int64 = 5000

    private var last: Int64 = .min / 4
    /// When the last of them will be forgiven.
    private var clear: Int64 = .min / 4
    private var heldUntil: Int64 = .min / 4
    /// Digests of the last secrets that were counted, the newest first; 0 is none.
    private var seen = SIMD4<UInt64>.zero

    /// A clock that stepped back must not keep anybody out for longer than failures do.
    mutating func settle(at now: Int64, under ladder: DelayLadder) {
        last = min(last, now)
        clear = min(clear, now + ladder.height * Self.forgiveness)
        heldUntil = min(heldUntil, now + Self.longestHold)
    }

    func failures(at now: Int64) -> Int64 {
        clear <= now ? 0 : (clear - now + Self.forgiveness - 1) / Self.forgiveness
    }

    /// How long the next attempt has to wait yet when failures are answered with `delay`.
    func wait(_ delay: Int64, at now: Int64) -> Int64 {
        delay == 0 ? 0 : max(0, last + delay - now, heldUntil - now)
    }

    /// Keeps other attempts out while one is under way, so that many at once are not many tries.
    mutating func hold(for delay: Int64, at now: Int64) {
        heldUntil = now + min(delay, Self.longestHold)
    }

    /// - Returns: whether it was counted: a secret among the last few that were is not news.
    mutating func count(_ digest: UInt64, at now: Int64, under ladder: DelayLadder) -> Bool {
        guard !hasSeen(digest) else { return false }
        seen = SIMD4(digest, seen[0], seen[1], seen[2])
        add(at: now, under: ladder)
        return true
    }

    mutating func add(at now: Int64, under ladder: DelayLadder) {
        last = now
        clear = min(
            max(clear, now) + Self.forgiveness, now + ladder.height * Self.forgiveness)
    }

    private func hasSeen(_ digest: UInt64) -> Bool {
        seen[0] == digest || seen[1] == digest || seen[2] == digest || seen[3] == digest
    }
}
