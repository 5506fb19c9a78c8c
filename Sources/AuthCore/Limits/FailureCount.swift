/// The delay before the next login attempt, by the number of failures: none for the first few, then
/// one second, doubled with each further failure up to a maximum.
struct DelaySteps: Equatable, Sendable {
    let freeTries: Int
    /// In milliseconds.
    let maximum: Int64

    /// - Parameters:
    ///   - freeTries: attempts before the first delay, 0 to 10,000; a value outside is set to the
    ///     bound.
    ///   - maximum: 0 to a day, limited likewise.
    init(freeTries: Int, maximum: Duration) {
        self.freeTries = min(max(0, freeTries), 10_000)
        self.maximum = min(max(0, maximum.wholeMilliseconds), 86_400_000)
    }

    /// In milliseconds, counted from the last failure.
    func delay(after failures: Int64) -> Int64 {
        let step = failures - Int64(freeTries)
        return step < 0 ? 0 : min(maximum, 1000 << min(step, 40))
    }

    /// The number of failures from which the delay is the maximum. More are not counted.
    var failuresToMaximum: Int64 {
        var steps: Int64 = 0
        while delay(after: Int64(freeTries) + steps) < maximum { steps += 1 }
        return Int64(freeTries) + steps
    }
}

/// A number of failures that falls by one each minute, and the attempt that is in progress.
///
/// Times are milliseconds of ``Instant``. The caller keeps them far enough from the ends of the
/// range that sums cannot overflow.
struct FailureCount: Sendable {
    /// Milliseconds in which the count falls by one.
    static let decayInterval: Int64 = 60_000
    /// The longest time for which an attempt in progress blocks the next one. Computing a hash
    /// takes less.
    private static let longestBlock: Int64 = 5000

    private var lastFailure: Int64 = .min / 4
    /// When the count is 0 again.
    private var zeroAt: Int64 = .min / 4
    private var blockedUntil: Int64 = .min / 4
    /// Digests of the last secrets that were counted, the newest first; 0 for none.
    private var lastDigests = SIMD4<UInt64>.zero

    /// Moves times that lie too far after `now` back to the latest that are possible. After the
    /// clock has stepped back, a client thus waits no longer than its failures make it wait.
    mutating func limitTimes(to now: Int64, with steps: DelaySteps) {
        lastFailure = min(lastFailure, now)
        zeroAt = min(zeroAt, now + steps.failuresToMaximum * Self.decayInterval)
        blockedUntil = min(blockedUntil, now + Self.longestBlock)
    }

    func failures(at now: Int64) -> Int64 {
        zeroAt <= now ? 0 : (zeroAt - now + Self.decayInterval - 1) / Self.decayInterval
    }

    /// The rest of `delay`, counted from the last failure, or of the block by an attempt in
    /// progress, whichever is longer; 0 when `delay` is 0.
    func wait(_ delay: Int64, at now: Int64) -> Int64 {
        delay == 0 ? 0 : max(0, lastFailure + delay - now, blockedUntil - now)
    }

    /// Blocks further attempts while one is in progress. Otherwise many attempts sent at the same
    /// time would all be checked before the first failure is counted.
    mutating func block(for delay: Int64, at now: Int64) {
        blockedUntil = now + min(delay, Self.longestBlock)
    }

    /// Counts a wrong secret, unless it is one of the last four that were counted.
    /// - Returns: whether it was counted.
    mutating func count(_ digest: UInt64, at now: Int64, with steps: DelaySteps) -> Bool {
        guard !wasCounted(digest) else { return false }
        lastDigests = SIMD4(digest, lastDigests[0], lastDigests[1], lastDigests[2])
        add(at: now, with: steps)
        return true
    }

    mutating func add(at now: Int64, with steps: DelaySteps) {
        lastFailure = now
        zeroAt = min(
            max(zeroAt, now) + Self.decayInterval,
            now + steps.failuresToMaximum * Self.decayInterval)
    }

    private func wasCounted(_ digest: UInt64) -> Bool {
        lastDigests[0] == digest || lastDigests[1] == digest || lastDigests[2] == digest
            || lastDigests[3] == digest
    }
}
