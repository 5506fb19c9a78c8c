internal import Synchronization

/// Hands one outcome to one waiter: the first that is settled. Later ones are dropped.
private final class Race<T: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<T, any Error>)
        case settled(Result<T, any Error>)
        case over
    }

    private let state = Mutex(State.open)

    func settle(_ outcome: Result<T, any Error>) {
        let waiter: CheckedContinuation<T, any Error>? = state.withLock { state in
            switch state {
            case .open:
                state = .settled(outcome)
                return nil
            case .awaited(let waiter):
                state = .over
                return waiter
            case .settled, .over:
                return nil
            }
        }
        waiter?.resume(with: outcome)
    }

    func outcome(for waiter: CheckedContinuation<T, any Error>) {
        let outcome: Result<T, any Error>? = state.withLock { state in
            guard case .settled(let outcome) = state else {
                state = .awaited(waiter)
                return nil
            }
            state = .over
            return outcome
        }
        if let outcome { waiter.resume(with: outcome) }
    }
}

/// What `work` comes to, or a timeout at `deadline`, or the caller's cancellation, whichever is
/// first. `work` is cancelled then but not waited for: a name lookup cannot be interrupted, and a
/// task group would wait for it.
func race<T: Sendable>(
    until deadline: ContinuousClock.Instant,
    _ work: @escaping @Sendable () async throws -> T
) async throws -> T {
    let race = Race<T>()
    let worker = Task {
        do {
            race.settle(.success(try await work()))
        } catch {
            race.settle(.failure(error))
        }
    }
    let timer = Task {
        // Cancelled only when the race is over, where settling it does nothing.
        try? await Task.sleep(until: deadline, clock: .continuous)
        race.settle(.failure(FetchFailure(.timedOut)))
    }
    defer {
        worker.cancel()
        timer.cancel()
    }
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { race.outcome(for: $0) }
    } onCancel: {
        race.settle(.failure(CancellationError()))
    }
}
