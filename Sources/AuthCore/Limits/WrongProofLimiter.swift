public import Networking
internal import Synchronization

/// Limits the wrong digests that a client may send, because this server computes one scrypt hash to
/// check each. A client that has sent more than `allowance` within a minute gets an error before
/// its next challenge is spent.
///
/// Memory is bounded: at most `capacity` clients are counted in each minute, and further clients
/// are not counted. Each digest still costs its client a challenge, and the hashing pool bounds the
/// work that it causes here. Rejecting these clients instead would let an attacker lock out others.
public final class WrongProofLimiter: Sendable {
    private struct State {
        var minute: Int64 = 0
        var current: [IPBlock: Int] = [:]
        var previous: [IPBlock: Int] = [:]

        mutating func advance(to minute: Int64) {
            guard minute != self.minute else { return }
            previous = minute == self.minute + 1 ? current : [:]
            current = [:]
            self.minute = minute
        }
    }

    private let allowance: Int
    private let capacity: Int
    private let state = Mutex(State())

    public init(allowance: Int = 10, capacity: Int = 10_000) {
        self.allowance = allowance
        self.capacity = capacity
    }

    /// Counts a digest as wrong until ``refund(_:at:)`` is called for it. Digests that are sent at
    /// the same time are thus all counted before the first of them is checked.
    /// - Throws: ``RateLimited`` when the client has sent more wrong digests within the last minute
    ///   than allowed; nothing is counted then.
    public func acquire(_ client: IPAddress, at now: ContinuousClock.Instant) throws(RateLimited) {
        let (minute, elapsed) = Self.minute(of: now)
        let isAllowed = state.withLock { state in
            state.advance(to: minute)
            // The part of the previous minute that still lies within the last 60 seconds.
            let carried = Double(state.previous[client.client] ?? 0) * (60 - elapsed) / 60
            let current = state.current[client.client]
            guard Double(current ?? 0) + carried <= Double(allowance) else { return false }
            if current != nil || state.current.count < capacity {
                state.current[client.client, default: 0] += 1
            }
            return true
        }
        guard isAllowed else {
            let wait = max(1, Int64(60 - elapsed))
            throw RateLimited(
                retryAfter: .seconds(wait),
                status: RateLimitStatus(limit: allowance, remaining: 0, secondsToReset: Int(wait)))
        }
    }

    /// Uncounts a digest that was correct, or that was not checked.
    public func refund(_ client: IPAddress, at now: ContinuousClock.Instant) {
        let (minute, _) = Self.minute(of: now)
        state.withLock { state in
            // The digest was counted in the minute of its arrival, which may have ended since.
            if minute == state.minute {
                state.current.removeOne(from: client.client)
            } else {
                state.previous.removeOne(from: client.client)
            }
        }
    }

    private static func minute(of now: ContinuousClock.Instant) -> (
        number: Int64, elapsedSeconds: Double
    ) {
        let length: Int64 = 60_000
        let number = now.milliseconds >= 0 ? now.milliseconds / length : 0
        let rest = now.milliseconds >= 0 ? now.milliseconds % length : 0
        return (number, Double(rest) / 1000)
    }
}

extension [IPBlock: Int] {
    fileprivate mutating func removeOne(from network: IPBlock) {
        guard let count = self[network] else { return }
        self[network] = count > 1 ? count - 1 : nil
    }
}
