internal import Synchronization

/// A document of a provider, fetched once for all who need it at the same time.
///
/// Guarantees: it is fetched again when it is an hour old, and at most once a minute because
/// somebody found it outdated. While it cannot be fetched again, it is used until it is a day old.
/// A failure is returned only to those who are waiting.
final class CachedDocument<Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let fetched: ContinuousClock.Instant
    }

    private struct State {
        var entry: Entry?
        var fetching: Task<Result<Value, ProviderError>, Never>?
        var lastForced: ContinuousClock.Instant?
    }

    private static var freshPeriod: Duration { .seconds(3600) }
    private static var usablePeriod: Duration { .seconds(86_400) }
    private static var forcedInterval: Duration { .seconds(60) }

    private let state = Mutex(State())

    init() {}

    /// - Parameter fetch: does not end for the cancellation of one of those who wait.
    func value(
        at now: ContinuousClock.Instant,
        _ fetch: @escaping @Sendable () async throws(ProviderError) -> Value
    ) async throws(ProviderError) -> Value {
        let (entry, task) = state.withLock { state in
            if let entry = state.entry, now - entry.fetched < Self.freshPeriod {
                return (entry as Entry?, nil as Task<Result<Value, ProviderError>, Never>?)
            }
            return (state.entry, begin(&state, at: now, fetch))
        }
        guard let task else {
            guard let entry else { preconditionFailure("neither a document nor a fetch") }
            return entry.value
        }
        switch await task.value {
        case .success(let value): return value
        case .failure(let error):
            guard let entry, now - entry.fetched < Self.usablePeriod else { throw error }
            return entry.value
        }
    }

    /// Fetches it again, because the present one lacks something.
    /// - Returns: `nil` if that was done within the last minute.
    func newerValue(
        at now: ContinuousClock.Instant,
        _ fetch: @escaping @Sendable () async throws(ProviderError) -> Value
    ) async throws(ProviderError) -> Value? {
        let task = state.withLock { state in
            if let last = state.lastForced, now - last < Self.forcedInterval {
                return nil as Task<Result<Value, ProviderError>, Never>?
            }
            state.lastForced = now
            return begin(&state, at: now, fetch)
        }
        return try await task?.value.get()
    }

    private func begin(
        _ state: inout State, at now: ContinuousClock.Instant,
        _ fetch: @escaping @Sendable () async throws(ProviderError) -> Value
    ) -> Task<Result<Value, ProviderError>, Never> {
        if let task = state.fetching { return task }
        let task = Task {
            let result: Result<Value, ProviderError>
            do throws(ProviderError) {
                result = .success(try await fetch())
            } catch {
                result = .failure(error)
            }
            self.state.withLock { state in
                state.fetching = nil
                if case .success(let value) = result {
                    state.entry = Entry(value: value, fetched: now)
                }
            }
            return result
        }
        state.fetching = task
        return task
    }
}
