public import Networking
public import Scheduling
internal import Synchronization

/// A pool whose places a test can take away and give back.
public final class HeldPool: Sendable {
    private final class Held: Sendable {
        let place: WorkerPool.Place

        init(_ place: consuming WorkerPool.Place) {
            self.place = place
        }
    }

    public let pool: WorkerPool
    private let held = Mutex<[Held]>([])

    /// - Parameter isFull: whether no place is free from the start.
    public init(isFull: Bool = false, shares: WorkerPool.Shares = .unlimited) {
        pool = WorkerPool(name: "test", lanes: 1, depth: 3, shares: shares)
        if isFull { fill() }
    }

    /// A pool without a free place, for good.
    public static func full() -> WorkerPool {
        let held = HeldPool(isFull: true)
        permanent.withLock { $0.append(held) }
        return held.pool
    }

    private static let permanent = Mutex<[HeldPool]>([])

    /// Takes every place that is free for `client`.
    public func fill(for client: IPAddress? = nil) {
        while !pool.isFull(for: client) {
            guard let place = try? Held(pool.reserve(for: client)) else { return }
            held.withLock { $0.append(place) }
        }
    }

    /// Gives back what ``fill()`` took.
    public func empty() {
        held.withLock { $0 = [] }
    }
}
