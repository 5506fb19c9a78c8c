internal import Synchronization

/// A computation that is faster for several inputs together than for one after the other.
///
/// Callers give a pool one input each (``WorkerPool/Place/run(_:in:)``). Inputs that wait at the
/// same time are computed together. An input that finds a free lane is computed at once and alone;
/// it does not wait for others.
public final class BatchWork<Input: Sendable, Output: Sendable>: Sendable {
    private struct Caller: Sendable {
        let input: Input
        let continuation: CheckedContinuation<Output, any Error>
    }

    private struct State {
        var callers: [UInt64: Caller] = [:]
        var nextKey: UInt64 = 0
    }

    private let limit: Int
    private let compute: @Sendable ([Input]) -> [Result<Output, any Error>]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: the most inputs that are computed together, at least one.
    ///   - compute: returns one result for each input, in their order.
    public init(
        atMost limit: Int, _ compute: @escaping @Sendable ([Input]) -> [Result<Output, any Error>]
    ) {
        precondition(limit > 0)
        self.limit = limit
        self.compute = compute
    }

    /// The job of one caller. The pool must run it or cancel it, which resumes the caller.
    func job(
        _ input: Input, resuming continuation: CheckedContinuation<Output, any Error>
    ) -> PoolJob {
        let key = state.withLock { state in
            state.nextKey &+= 1
            state.callers[state.nextKey] = Caller(input: input, continuation: continuation)
            return state.nextKey
        }
        return PoolJob(
            work: .batched(
                Batch(id: ObjectIdentifier(self), limit: limit, run: { self.run($0) }), key: key),
            cancel: {
                for caller in self.remove([key]) {
                    caller.continuation.resume(throwing: CancellationError())
                }
            })
    }

    private func run(_ keys: [UInt64]) {
        let callers = remove(keys)
        let results = compute(callers.map(\.input))
        precondition(results.count == callers.count, "one result for each input")
        for (caller, result) in zip(callers, results) { caller.continuation.resume(with: result) }
    }

    private func remove(_ keys: [UInt64]) -> [Caller] {
        state.withLock { state in keys.compactMap { state.callers.removeValue(forKey: $0) } }
    }
}
