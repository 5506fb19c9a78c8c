internal import Synchronization

/// Whether the database answers. It is asked at most once a second, because load balancers and
/// other clients may ask at any rate.
final class DatabaseProbe: Sendable {
    private typealias Answer = (asked: ContinuousClock.Instant, result: Task<Bool, Never>)

    static let interval: Duration = .seconds(1)

    private let ping: @Sendable () async throws -> Void
    private let last = Mutex<Answer?>(nil)

    /// - Parameter ping: throws when the database does not answer in time.
    init(ping: @escaping @Sendable () async throws -> Void) {
        self.ping = ping
    }

    /// The last result, or a new one if that is a second old. Requests during a query wait for its
    /// result.
    func isAnswering(at now: ContinuousClock.Instant) async -> Bool {
        let result = last.withLock { last in
            if let last, now - last.asked < Self.interval { return last.result }
            let result = Task { [ping] in
                do {
                    try await ping()
                    return true
                } catch {
                    // The cause does not matter to a load balancer.
                    return false
                }
            }
            last = (now, result)
            return result
        }
        return await result.value
    }
}
