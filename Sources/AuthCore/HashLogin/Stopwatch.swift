internal import Synchronization

/// Waiting, which only the program can really do.
public protocol Stopwatch: Sendable {
    /// Returns at `instant`, at once when it is past. Holds no thread.
    /// - Throws: `CancellationError` when the caller is cancelled first.
    func wait(until instant: Instant) async throws

    /// What `work` gives, or `nil` at `deadline` if it has not given anything by then. It is
    /// cancelled then and not waited for: what it may still come to is dropped.
    func run<T: Sendable>(
        until deadline: Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T?
}

extension Stopwatch {
    public func run<T: Sendable>(
        until deadline: Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        let race = Race<T?>()
        let worker = Task {
            do { race.finish(.success(try await work())) } catch { race.finish(.failure(error)) }
        }
        let timer = Task {
            // Only a cancellation ends the wait early, and then nobody is waiting any more.
            try? await wait(until: deadline)
            race.finish(.success(nil))
        }
        return try await withTaskCancellationHandler {
            defer {
                worker.cancel()
                timer.cancel()
            }
            return try await race.outcome()
        } onCancel: {
            worker.cancel()
            timer.cancel()
        }
    }
}

/// The first of several outcomes; later ones are dropped.
private final class Race<T: Sendable>: Sendable {
    private enum State {
        case running
        case awaited(CheckedContinuation<T, any Error>)
        case finished(Result<T, any Error>)
        case over
    }

    private let state = Mutex(State.running)

    func finish(_ result: Result<T, any Error>) {
        let waiter: CheckedContinuation<T, any Error>? = state.withLock { state in
            switch state {
            case .running:
                state = .finished(result)
                return nil
            case .awaited(let continuation):
                state = .over
                return continuation
            case .finished, .over: return nil
            }
        }
        waiter?.resume(with: result)
    }

    /// Asked for once.
    func outcome() async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let result: Result<T, any Error>? = state.withLock { state in
                if case .finished(let result) = state {
                    state = .over
                    return result
                }
                state = .awaited(continuation)
                return nil
            }
            if let result { continuation.resume(with: result) }
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
