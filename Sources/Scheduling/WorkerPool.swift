internal import Dispatch
internal import Synchronization

/// A fixed number of serial lanes for work that uses the CPU or blocks, fed from one bounded queue.
///
/// Guarantees: at most `lanes` jobs run at once, which bounds the memory that they use; at most
/// `depth` more wait, in order; a caller beyond that gets ``Full``, and nothing of its job has run.
/// A caller that is cancelled while its job waits takes the job out of the queue. Two pools share
/// nothing, so a slow one cannot delay the other.
public final class WorkerPool: Sendable {
    /// Every lane is busy and the queue is full. Nothing of the job has run.
    public struct Full: Error, Equatable, CustomStringConvertible {
        public let pool: String
        /// When a place is likely to be free again.
        public let retryAfter: Duration

        public init(pool: String, retryAfter: Duration) {
            self.pool = pool
            self.retryAfter = retryAfter
        }

        public var description: String { "the \(pool) queue is full" }
    }

    /// What the pool is doing now, and how many callers it has rejected since it was made.
    public struct Statistics: Equatable, Sendable {
        /// Jobs that can run at once.
        public let lanes: Int
        /// Places in all: lanes and places in the queue.
        public let capacity: Int
        /// Places that are held, with a job or without.
        public let reserved: Int
        /// Jobs that run now.
        public let running: Int
        /// Jobs that wait for a lane.
        public let waiting: Int
        /// Callers that got ``Full``.
        public let rejected: Int
    }

    /// A place in a pool, given back when this value is destroyed. A job that is run in it is never
    /// rejected.
    public struct Place: ~Copyable, Sendable {
        private let pool: WorkerPool

        fileprivate init(in pool: WorkerPool) {
            self.pool = pool
        }

        deinit {
            pool.giveBack()
        }

        /// Runs `work` on a lane. A place is for one job at a time: await it before the next.
        ///
        /// - Throws: `CancellationError` when the caller was cancelled before the job began, or
        ///   what `work` throws. A job that has begun is finished.
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
        var reserved = 0
        var rejected = 0
        var waiting: [Job] = []
        var idle: [Int]
        var nextTicket: UInt64 = 0
    }

    public let name: String
    /// When a caller that got ``Full`` should try again.
    public let retryAfter: Duration
    private let lanes: [DispatchQueue]
    private let capacity: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - name: for logs and thread names.
    ///   - lanes: jobs at once, at least one.
    ///   - depth: jobs that may wait beyond those running.
    public init(name: String, lanes: Int, depth: Int, retryAfter: Duration = .seconds(1)) {
        precondition(lanes > 0 && depth >= 0)
        self.name = name
        self.retryAfter = retryAfter
        self.lanes = (0..<lanes).map { DispatchQueue(label: "\(name).\($0)") }
        capacity = lanes + depth
        state = Mutex(State(idle: Array(0..<lanes)))
    }

    public var statistics: Statistics {
        state.withLock { state in
            Statistics(
                lanes: lanes.count, capacity: capacity, reserved: state.reserved,
                running: lanes.count - state.idle.count, waiting: state.waiting.count,
                rejected: state.rejected)
        }
    }

    /// Whether a caller that came now would be rejected.
    public var isFull: Bool { state.withLock { $0.reserved == capacity } }

    /// Takes a place without waiting. For work that must not be rejected half-way: what cannot be
    /// undone is done only while the place is held.
    public func reserve() throws(Full) -> Place {
        let isReserved = state.withLock { state in
            guard state.reserved < capacity else {
                state.rejected += 1
                return false
            }
            state.reserved += 1
            return true
        }
        guard isReserved else { throw Full(pool: name, retryAfter: retryAfter) }
        return Place(in: self)
    }

    /// Runs one job: ``reserve()`` and ``Place/run(_:)`` in one call.
    /// - Throws: ``Full`` before anything has run, and what ``Place/run(_:)`` throws.
    public func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await reserve().run(work)
    }

    private func giveBack() {
        state.withLock { $0.reserved -= 1 }
    }

    private func enqueue<T: Sendable>(
        _ work: @escaping @Sendable () throws -> T, from caller: isolated (any Actor)? = #isolation
    ) async throws -> T {
        // With a free lane the job would begin at once, although its caller was cancelled.
        try Task.checkCancellation()
        let ticket = state.withLock { state in
            state.nextTicket &+= 1
            return state.nextTicket
        }
        return try await withTaskCancellationHandler {
            // Without `isolation` the closure would run on the global executor, which costs two
            // thread switches.
            try await withCheckedThrowingContinuation(isolation: caller) { continuation in
                submit(
                    Job(
                        ticket: ticket,
                        run: { continuation.resume(with: Result { try work() }) },
                        cancel: { continuation.resume(throwing: CancellationError()) }))
                // A caller cancelled before this point was told so when there was no job yet.
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
