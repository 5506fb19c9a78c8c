internal import Synchronization

/// Waiting, which only the program can really do.
public protocol Stopwatch: Sendable {
    /// Returns at `instant`, at once when it is past. Holds no thread.
    /// - Throws: `CancellationError` when the caller is cancelled first.
    func wait(until instant: Instant) async throws
}

extension Stopwatch {
    /// What `work` gives, or `nil` when it has not by `deadline`; then it is cancelled, and what it
    /// may still come to is dropped.
    func run<T: Sendable>(
        until deadline: Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await wait(until: deadline)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

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
