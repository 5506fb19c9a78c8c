internal import Synchronization

/// The work was not done by its deadline.
public struct DeadlinePassed: Error, Equatable {
    public init() {}
}

/// Returns the result of `work`, or throws ``DeadlinePassed`` at `deadline`, or the caller's
/// cancellation, whichever is first.
///
/// `work` is then cancelled. Unlike a task group this function does not wait for it, because a name
/// look-up, a disk that does not answer or a hash computation cannot be interrupted. Its result is
/// dropped.
public func withDeadline<T: Sendable>(
    _ deadline: ContinuousClock.Instant, _ work: @escaping @Sendable () async throws -> T
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
        // Cancelled only after the race is settled, when settling it again does nothing.
        try? await Task.sleep(until: deadline, clock: .continuous)
        race.settle(.failure(DeadlinePassed()))
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

/// Gives the first outcome that is settled to one waiter. Later outcomes are dropped.
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
