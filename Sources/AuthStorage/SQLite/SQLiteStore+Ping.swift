internal import Synchronization

extension SQLiteStore {
    /// Whether the database answers, for readiness: one trivial read.
    /// - Throws: `StoreBusy` when it is locked, ``StorageError/unresponsive(after:)`` when there
    ///   is no answer within `pingTimeout` (a hung disk), or whatever else is wrong.
    public func ping() async throws {
        let answer = FirstAnswer()
        let limit = pingTimeout
        // Neither task is a child: a caller that had to wait for a hung read would hang with it.
        let read = Task {
            do {
                _ = try await self.read { try $0.first(.ping) { try $0.integer(0) } }
                answer.give(.success(()))
            } catch {
                answer.give(.failure(error))
            }
        }
        let clock = Task {
            // Cancelled when the read was first, and then nobody listens.
            try? await Task.sleep(for: limit)
            answer.give(.failure(StorageError.unresponsive(after: limit)))
        }
        defer {
            read.cancel()
            clock.cancel()
        }
        try await answer.wait()
    }
}

/// The first of several answers; the later ones are dropped.
private final class FirstAnswer: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Void, any Error>)
        case given(Result<Void, any Error>)
        case done
    }

    private let state = Mutex(State.open)

    func give(_ answer: Result<Void, any Error>) {
        let waiter: CheckedContinuation<Void, any Error>? = state.withLock { state in
            switch state {
            case .open:
                state = .given(answer)
                return nil
            case .awaited(let continuation):
                state = .done
                return continuation
            case .given, .done: return nil
            }
        }
        waiter?.resume(with: answer)
    }

    func wait() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let answer: Result<Void, any Error>? = state.withLock { state in
                guard case .given(let answer) = state else {
                    state = .awaited(continuation)
                    return nil
                }
                state = .done
                return answer
            }
            if let answer { continuation.resume(with: answer) }
        }
    }
}

extension Query {
    fileprivate static let ping = Query("ping", "SELECT count(*) FROM schema_migration")
}
