internal import AuthCore
internal import Synchronization

/// A write that waits for its turn, without its type of result.
protocol PendingWrite: Sendable {
    func perform(in database: SQLiteConnection) throws
    func fail(_ error: any Error)
    /// Tells the caller what came of it.
    func answer()
}

/// All writes of a store, through one connection.
///
/// Promises: what it gives back is durable; writes happen in the order in which they came; those
/// that come while the disk is busy are committed together; at most `depth` wait, beyond which
/// callers are turned away with `StoreBusy` and nothing happened.
final class Writer: Sendable {
    private struct State {
        var waiting: [any PendingWrite] = []
        /// Whether there is a task that commits until nothing waits.
        var isCommitting = false
    }

    private enum Admission { case refused, waiting, first }

    private let connection: Connection
    private let depth: Int
    private let state = Mutex(State())

    init(_ connection: Connection, depth: Int) {
        self.connection = connection
        self.depth = depth
    }

    /// Writes that wait for the next commit.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// - Parameter work: all of it happens, or nothing when it throws.
    func write<T: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            switch admit(Write(work, continuation)) {
            case .refused: continuation.resume(throwing: StoreBusy())
            case .waiting: break
            // Detached: it works for all callers, and carries no one's priority or context.
            case .first: Task.detached { await self.commitUntilNothingWaits() }
            }
        }
    }

    private func admit(_ write: any PendingWrite) -> Admission {
        state.withLock { state in
            guard state.waiting.count < depth else { return .refused }
            state.waiting.append(write)
            if state.isCommitting { return .waiting }
            state.isCommitting = true
            return .first
        }
    }

    /// One commit at a time, each of all that came during the one before. Were every caller to
    /// commit for itself, those whose write is long done would wait behind the commits of others,
    /// and so be late for the next: hardly two writes would ever share one.
    private func commitUntilNothingWaits() async {
        while let batch = takeBatch() {
            await connection.commit(batch)
            for write in batch { write.answer() }
        }
    }

    private func takeBatch() -> [any PendingWrite]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isCommitting = false
                return nil
            }
            let batch = state.waiting
            state.waiting = []
            return batch
        }
    }
}

/// One write, its caller, and, once its batch is through, what came of it.
private final class Write<T: Sendable>: PendingWrite {
    private let work: @Sendable (SQLiteConnection) throws -> T
    private let caller: CheckedContinuation<T, any Error>
    private let result = Mutex<Result<T, any Error>>(.failure(StorageError.closed))

    init(
        _ work: @escaping @Sendable (SQLiteConnection) throws -> T,
        _ caller: CheckedContinuation<T, any Error>
    ) {
        self.work = work
        self.caller = caller
    }

    func perform(in database: SQLiteConnection) throws {
        let value = try work(database)
        result.withLock { $0 = .success(value) }
    }

    func fail(_ error: any Error) {
        result.withLock { $0 = .failure(error) }
    }

    func answer() {
        caller.resume(with: result.withLock { $0 })
    }
}
