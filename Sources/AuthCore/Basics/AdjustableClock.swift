internal import Synchronization

/// A clock that a test suite sets. In between it runs like the system's clock.
///
/// The monotonic clock follows when the wall clock is set to a later time, and stays when it is set
/// to an earlier one, so it never goes back.
public final class AdjustableClock: Sendable {
    /// The times that it can be set to: the years 1970 to 9999.
    public static let times = Instant(seconds: 0)...Instant(seconds: 253_402_300_799)

    /// After this time no limit has data about a client. The longest time to fill a bucket is that
    /// of a million tokens at one a second, and counts of failures fall within an hour.
    private static let allLimits = Duration.seconds(30 * 86_400)
    /// The monotonic clock is advanced by 30,000 years at most, because limits compute with
    /// microseconds in 64 bits.
    private static let furthest = Duration.seconds(1_000_000_000_000)

    private let system: ServerClock
    private let offsets = Mutex((wall: Duration.zero, monotonic: Duration.zero))

    public init(_ system: ServerClock) {
        self.system = system
    }

    public var now: Instant { offsets.withLock { present($0.wall) } }

    /// Both clocks, for a server.
    public var clocks: ServerClock {
        ServerClock(
            now: { self.now },
            monotonic: { self.offsets.withLock { self.system.monotonic() + $0.monotonic } })
    }

    /// - Parameter time: one of ``times``.
    /// - Returns: whether it is later than before.
    func set(to time: Instant) -> Bool {
        offsets.withLock { offsets in
            let step = time.since(present(offsets.wall))
            offsets.wall += step
            guard step > .zero else { return false }
            offsets.monotonic = min(offsets.monotonic + step, Self.furthest)
            return true
        }
    }

    /// Sets the wall clock to the system's time, and advances the monotonic clock so far that
    /// nothing is limited.
    func reset() {
        offsets.withLock {
            $0 = (.zero, min($0.monotonic + Self.allLimits, Self.furthest))
        }
    }

    private func present(_ offset: Duration) -> Instant { system.now().advanced(by: offset) }
}
