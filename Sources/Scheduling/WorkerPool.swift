internal import Dispatch
internal import Synchronization

/// A fixed number of serial lanes for work that burns CPU or blocks, fed from one bounded queue.
///
/// Promises: never more than `lanes` jobs at once, which bounds what they cost in memory; at most
/// `depth` more waiting, in order; beyond that callers are turned away with ``Full`` and nothing
/// was started. A caller that is cancelled while its job still waits takes the job with it.
/// Two pools share nothing, so a slow one cannot starve another.
public final class WorkerPool: Sendable {
    /// Every lane is busy and the queue is full. Nothing of the job has run.
    public struct Full: Error {
        /// The pool that refused.
        public let pool: String
    }

    /// A place in the pool, held for as long as ``WorkerPool/withPlace(_:)`` runs: what is run
    /// through it, one job at a time, is never refused.
    public struct Place: Sendable {
        fileprivate let pool: WorkerPool

        /// Runs `work` on a lane and gives back what it returns or throws.
        /// - Throws: `CancellationError` when the caller was cancelled before the job began, or
        ///   whatever `work` throws.
        public func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
            try await pool.enqueue(work)
        }
    }

    private struct Job: Sendable {
        let ticket: UInt64
        let run: @Sendable () -> Void
        let cancel: @Sendable () -> Void
    }

    private struct State {
        var places: Int
        var waiting: [Job] = []
        var idle: [Int]
        var nextTicket: UInt64 = 0
    }

    public let name: String
    private let lanes: [DispatchQueue]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - name: for logs and thread names.
    ///   - lanes: jobs at once, at least one.
    ///   - depth: jobs that may wait beyond those running.
    public init(name: String, lanes: Int, depth: Int) {
        precondition(lanes > 0 && depth >= 0)
        self.name = name
        self.lanes = (0..<lanes).map { DispatchQueue(label: "\(name).\($0)") }
        state = Mutex(State(places: lanes + depth, idle: Array(0..<lanes)))
    }

    /// Jobs waiting now, for an operator's eyes and for tests.
    public var waiting: Int { state.withLock { $0.waiting.count } }

    /// Whether a job that came now would be turned away.
    public var isFull: Bool { state.withLock { $0.places == 0 } }

    /// Takes a place before `body` begins and gives it back when `body` ends. For work that must
    /// not be refused half-way: whatever is irrevocable is done only once the place is held.
    /// - Throws: ``Full`` before `body` has begun, or whatever `body` throws.
    public func withPlace<T: Sendable>(
        _ body: @Sendable (Place) async throws -> T
    ) async throws -> T {
        let taken = state.withLock { state in
            guard state.places > 0 else { return false }
            state.places -= 1
            return true
        }
        guard taken else { throw Full(pool: name) }
        defer { state.withLock { $0.places += 1 } }
        return try await body(Place(pool: self))
    }

    /// Runs one job: ``withPlace(_:)`` and ``Place/run(_:)`` in one call.
    public func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withPlace { try await $0.run(work) }
    }

    private func enqueue<T: Sendable>(
        _ work: @escaping @Sendable () throws -> T, from caller: isolated (any Actor)? = #isolation
    ) async throws -> T {
        // With a lane free the job would begin at once, and nobody is left to want it.
        try Task.checkCancellation()
        let ticket = state.withLock { state in
            state.nextTicket &+= 1
            return state.nextTicket
        }
        return try await withTaskCancellationHandler {
            // Without its mention here the closure would run on the global executor: two threads
            // to wake on the way out and back, for nothing.
            try await withCheckedThrowingContinuation(isolation: caller) { continuation in
                submit(
                    Job(
                        ticket: ticket,
                        run: { continuation.resume(with: Result { try work() }) },
                        cancel: { continuation.resume(throwing: CancellationError()) }))
                // A caller cancelled before this point was told so before there was a job to
                // withdraw.
                if Task.isCancelled { withdraw(ticket) }
            }
        } onCancel: {
            withdraw(ticket)
        }
    }

    private func submit(_ job: Job) {
        let lane: Int? = state.withLock { state in
            let lane = state.idle.popLast()
            if lane == nil { state.waiting.append(job) }
            return lane
        }
        if let lane { lanes[lane].async { self.drain(lane, first: job) } }
    }

    private func drain(_ lane: Int, first: Job) {
        var next: Job? = first
        while let job = next {
            job.run()
            next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.idle.append(lane)
                return nil
            }
        }
    }

    private func withdraw(_ ticket: UInt64) {
        let job: Job? = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                return nil
            }
            return state.waiting.remove(at: index)
        }
        job?.cancel()
    }
}
