/// The number of free failures, how fast the count falls, and the delay after further failures: one
/// second, then twice as long with each failure, up to a maximum.
struct DelaySteps: Equatable, Sendable {
    let freeTries: Int
    /// Milliseconds in which a count falls by one.
    let decayInterval: Int64
    /// In milliseconds.
    let maximum: Int64

    /// - Parameters:
    ///   - freeTries: attempts before the first delay, 0 to 10,000; a value outside is set to the
    ///     bound.
    ///   - period: the time in which that many failures are forgotten; up to a day.
    ///   - maximum: the longest delay, 0 to a day, limited likewise.
    init(freeTries: Int, per period: Duration, maximum: Duration) {
        let day: Int64 = 86_400_000
        self.freeTries = min(max(0, freeTries), 10_000)
        self.maximum = min(max(0, maximum.wholeMilliseconds), day)
        decayInterval = max(
            1, min(period.wholeMilliseconds, day) / Int64(max(1, self.freeTries)))
    }

    /// In milliseconds, counted from the last attempt.
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

    /// The time in which the greatest count falls to 0, in milliseconds.
    var longestDecay: Int64 { max(1, failuresToMaximum) * decayInterval }
}

/// A number of failures that falls with time, and the attempts that are in progress.
///
/// Times are milliseconds of the monotonic clock. The caller keeps them far enough from the ends
/// of the range that sums cannot overflow.
struct FailureCount: Sendable {
    /// Attempts that have begun and have no result yet.
    private(set) var pending: Int64 = 0
    private var lastAttempt: Int64 = .min / 4
    /// When the count is 0 again.
    private var zeroAt: Int64 = .min / 4

    /// Moves times that are too far after `now` back to the latest possible ones, because attempts
    /// of several loops may arrive out of order. So a client never waits longer than its failures
    /// require.
    mutating func limitTimes(to now: Int64, with steps: DelaySteps) {
        lastAttempt = min(lastAttempt, now)
        zeroAt = min(zeroAt, now + steps.longestDecay)
    }

    func failures(at now: Int64, with steps: DelaySteps) -> Int64 {
        zeroAt <= now ? 0 : (zeroAt - now + steps.decayInterval - 1) / steps.decayInterval
    }

    /// The rest of `delay`, counted from the last attempt; 0 when `delay` is 0.
    func wait(_ delay: Int64, at now: Int64) -> Int64 {
        delay == 0 ? 0 : max(0, lastAttempt + delay - now)
    }

    /// An attempt counts from here on, so that parallel attempts are checked no more often than
    /// consecutive ones.
    mutating func begin(at now: Int64) {
        pending += 1
        lastAttempt = now
    }

    /// Ends an attempt that began at `start`.
    mutating func end(isFailure: Bool, begunAt start: Int64, with steps: DelaySteps) {
        // The table drops entries when it is full, and with them attempts in progress.
        pending = max(0, pending - 1)
        guard isFailure else { return }
        zeroAt = min(max(zeroAt, start) + steps.decayInterval, start + steps.longestDecay)
    }

    mutating func clearFailures() {
        zeroAt = .min / 4
    }
}
