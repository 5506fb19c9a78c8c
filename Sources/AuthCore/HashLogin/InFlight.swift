internal import Synchronization

/// Counts what is under way by key and turns away what is too much. Memory is bounded by what is
/// under way.
final class InFlight: Sendable {
    private let limit: Int
    private let counts = Mutex<[String: Int]>([:])

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: `nil`, without running `body`, when `limit` are under way for `key`.
    func run<T>(_ key: String, _ body: () async throws -> T) async rethrows -> T? {
        let entered = counts.withLock { counts in
            guard counts[key, default: 0] < limit else { return false }
            counts[key, default: 0] += 1
            return true
        }
        guard entered else { return nil }
        defer {
            counts.withLock { counts in
                guard let count = counts[key] else { return }
                counts[key] = count > 1 ? count - 1 : nil
            }
        }
        return try await body()
    }
}
