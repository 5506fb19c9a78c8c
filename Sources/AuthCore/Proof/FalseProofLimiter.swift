internal import Synchronization

/// Keeps a client that sends false digests from burning our scrypt: after `allowance` of them
/// within a minute it is turned away before the next spend (contract, POST /api/v1/session).
///
/// Memory is bounded: at most `capacity` clients a minute are watched. Beyond that new ones go
/// unwatched for the rest of the minute, because each of them has had to pay for a challenge and
/// the hashing pool bounds what they can cost; nobody else is ever locked out in their place.
public final class FalseProofLimiter: Sendable {
    private struct State {
        var minute: Int64 = 0
        var current: [ClientNetwork: Int] = [:]
        var previous: [ClientNetwork: Int] = [:]

        mutating func turn(to minute: Int64) {
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

    /// Counts a digest as false until ``forgive(_:at:)`` says otherwise, so that many sent at once
    /// are counted before the first of them is looked at.
    /// - Throws: ``Refusal/tooManyRequests(retryAfter:)`` when the client has sent more false
    ///   digests within the last minute than it may; nothing is counted then.
    public func admit(_ client: ClientAddress, at now: Instant) throws(Refusal) {
        let (minute, elapsed) = Self.minute(of: now)
        let isAdmitted = state.withLock { state in
            state.turn(to: minute)
            // The part of the previous minute that still lies within the last 60 seconds.
            let carried = Double(state.previous[client.subscriber] ?? 0) * (60 - elapsed) / 60
            let current = state.current[client.subscriber]
            guard Double(current ?? 0) + carried <= Double(allowance) else { return false }
            if current != nil || state.current.count < capacity {
                state.current[client.subscriber, default: 0] += 1
            }
            return true
        }
        guard isAdmitted else {
            let wait = max(1, Int64(60 - elapsed))
            throw .tooManyRequests(
                retryAfter: .seconds(wait),
                standing: RateStatus(limit: allowance, remaining: 0, secondsToReset: Int(wait)))
        }
    }

    /// Takes a digest back that was right after all, or that nobody looked at.
    public func forgive(_ client: ClientAddress, at now: Instant) {
        let (minute, _) = Self.minute(of: now)
        state.withLock { state in
            // Counted in the minute of its arrival, which may be over.
            if minute == state.minute {
                state.current.takeOne(from: client.subscriber)
            } else {
                state.previous.takeOne(from: client.subscriber)
            }
        }
    }

    private static func minute(of now: Instant) -> (number: Int64, elapsedSeconds: Double) {
        let length: Int64 = 60_000
        let number = now.milliseconds >= 0 ? now.milliseconds / length : 0
        let rest = now.milliseconds >= 0 ? now.milliseconds % length : 0
        return (number, Double(rest) / 1000)
    }
}

extension [ClientNetwork: Int] {
    fileprivate mutating func takeOne(from network: ClientNetwork) {
        guard let count = self[network] else { return }
        self[network] = count > 1 ? count - 1 : nil
    }
}
