internal import Synchronization

/// A counter that only rises. Tasks that wait for a value hold no thread.
public final class Level: Sendable {
    private struct Waiter {
        let wanted: Int
        let ready: CheckedContinuation<Void, Never>
    }

    private let state = Mutex((value: 0, waiting: [Waiter]()))

    public init() {}

    public var value: Int { state.withLock { $0.value } }

    public func raise() {
        let ready = state.withLock { state in
            state.value += 1
            let ready = state.waiting.filter { $0.wanted <= state.value }
            state.waiting.removeAll { $0.wanted <= state.value }
            return ready
        }
        for waiter in ready { waiter.ready.resume() }
    }

    /// Returns once the value is at least `wanted`, or when the task is cancelled, as the time limit
    /// of a test does.
    public func reaches(_ wanted: Int = 1) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReached = state.withLock { state in
                    if state.value >= wanted || Task.isCancelled { return true }
                    state.waiting.append(Waiter(wanted: wanted, ready: continuation))
                    return false
                }
                if isReached { continuation.resume() }
            }
        } onCancel: {
            let left = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in left { waiter.ready.resume() }
        }
    }
}
