internal import Dispatch
public import Networking
internal import Synchronization

/// A fixed number of serial lanes for work that uses the CPU or blocks, fed from one bounded queue
/// that is fair between clients.
///
/// Guarantees: at most `lanes` jobs run at once, which bounds the memory that they use; at most
/// `depth` more wait. Sites and clients are taken in turn (``FairQueue``), and none of them holds
/// more places than its share (``Shares``). A caller beyond either bound gets ``Full``, and nothing
/// of its job has run. A caller that is cancelled while its job waits takes the job out of the
/// queue. Two pools share nothing, so a slow one cannot delay the other.
///
/// Inputs of one ``BatchWork`` that wait are computed together, as one job (``WaitingJobs``).
public final class WorkerPool: Sendable {
    /// The places that clients and sites may hold, running jobs included.
    ///
    /// A client may have a third as many places as are free after it, and a site as many as are
    /// free after it, but each at least one. So a single client has at most a quarter and a single
    /// site half. If many have places, the share of each is smaller, so that a client without any
    /// finds a place.
    public enum Shares: Sendable {
        /// Shares of `depth`: for work that keeps a lane busy for a short time. A client alone may
        /// use every lane.
        case ofQueue
        /// Shares of `lanes`: for work that waits for other servers. A site must not block every
        /// lane with servers that do not answer.
        case ofLanes
        case unlimited
    }

    /// Every lane is busy and the queue is full, or the client or its site has used up its share.
    /// Nothing of the job has run.
    public struct Full: Error, Equatable, CustomStringConvertible {
        public let pool: String
        /// When a place is likely to be free again.
        public let retryAfter: Duration

        public init(pool: String, retryAfter: Duration) {
            self.pool = pool
            self.retryAfter = retryAfter
        }

        public var description: String { "no place in the \(pool) queue" }
    }

    /// What the pool is doing now, and how many callers it has rejected since it was made.
    public struct Statistics: Equatable, Sendable {
        /// Jobs that can run at once.
        public let lanes: Int
        /// Places in all: lanes and places in the queue.
        public let capacity: Int
        /// Places that are held, with a job or without.
        public let reserved: Int
        /// Lanes that run something now: a job, or the inputs of a batch.
        public let running: Int
        /// Jobs that wait for a lane.
        public let waiting: Int
        /// Callers that got ``Full``.
        public let rejected: Int
        /// How long the jobs that have begun had waited for a lane.
        public let waits: Histogram
    }

    /// A place in a pool, given back when this value is destroyed. A job that is run in it is never
    /// rejected.
    public struct Place: ~Copyable, Sendable {
        private let pool: WorkerPool
        private let client: IPAddress?

        fileprivate init(in pool: WorkerPool, for client: IPAddress?) {
            self.pool = pool
            self.client = client
        }

        deinit {
            pool.giveBack(client)
        }

        /// Runs `work` on a lane. A place is for one job at a time: await it before the next.
        ///
        /// - Throws: `CancellationError` when the caller was cancelled before the job began, or
        ///   what `work` throws. A job that has begun is finished.
        public func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
            try await pool.enqueue(of: client) { continuation in
                PoolJob(
                    work: .single({ continuation.resume(with: Result { try work() }) }),
                    cancel: { continuation.resume(throwing: CancellationError()) })
            }
        }

        /// As ``run(_:)``, for work that may wait in between, such as for the database. It runs on
        /// its lane, which runs no other job until it has ended.
        public func runKeepingLane<T: Sendable>(
            _ work: @escaping @Sendable () async throws -> T
        ) async throws -> T {
            let lanes = pool.lanes
            return try await withLane { try await LaneActor(lanes[$0]).run(work) }
        }

        /// As ``runKeepingLane(_:)``, for work that goes to its lane by itself.
        /// - Parameter work: gets the index of its lane in ``WorkerPool/lanes``.
        public func withLane<T>(_ work: (Int) async throws -> T) async throws -> T {
            let lane = try await takeLane()
            defer { pool.giveBack(lane: lane) }
            return try await work(lane)
        }

        private func takeLane() async throws -> Int {
            try Task.checkCancellation()
            if let lane = pool.takeIdleLane() { return lane }
            return try await pool.enqueue(of: client) { continuation in
                PoolJob(
                    work: .keepingLane({ continuation.resume(returning: $0) }),
                    cancel: { continuation.resume(throwing: CancellationError()) })
            }
        }

        /// As ``run(_:)``, for an input that may be computed together with those of other callers.
        /// An error belongs to the caller's own input.
        public func run<Input: Sendable, Output: Sendable>(
            _ input: Input, in batch: BatchWork<Input, Output>
        ) async throws -> Output {
            try await pool.enqueue(of: client) { batch.job(input, resuming: $0) }
        }
    }

    private struct State {
        var reserved = 0
        var rejected = 0
        /// The places that clients hold, where there are shares.
        var held = NetworkCounts()
        var waiting = WaitingJobs()
        var idle: [Int]
        private var lastTicket: UInt64 = 0

        init(idle: [Int]) {
            self.idle = idle
        }

        mutating func takeTicket() -> UInt64 {
            lastTicket &+= 1
            return lastTicket
        }
    }

    public let name: String
    /// When a caller that got ``Full`` should try again.
    public let retryAfter: Duration
    /// An actor on one of these executors is confined to that lane.
    public let lanes: [any SerialLane]
    private let capacity: Int
    /// The places that shares are parts of; `nil` where there are none.
    private let shared: Int?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - name: for logs and thread names.
    ///   - lanes: jobs at once, at least one.
    ///   - depth: jobs that may wait beyond those running.
    public convenience init(
        name: String, lanes: Int, depth: Int, shares: Shares = .ofQueue,
        retryAfter: Duration = .seconds(1)
    ) {
        self.init(
            name: name, on: (0..<lanes).map { QueueExecutor(label: "\(name).\($0)") },
            depth: depth, shares: shares, retryAfter: retryAfter)
    }

    /// A pool whose lanes have the queues of others, and keep them busy for a moment only.
    /// - Parameter lanes: several may have the same queue. A caller on one of these queues gets an
    ///   idle lane of that queue if there is one.
    public init(
        name: String, on lanes: [any SerialLane], depth: Int, shares: Shares = .ofQueue,
        retryAfter: Duration = .seconds(1)
    ) {
        precondition(!lanes.isEmpty && depth >= 0)
        self.name = name
        self.retryAfter = retryAfter
        self.lanes = lanes
        capacity = lanes.count + depth
        shared =
            switch shares {
            case .ofQueue: depth
            case .ofLanes: lanes.count
            case .unlimited: nil
            }
        state = Mutex(State(idle: Array(lanes.indices)))
    }

    public var statistics: Statistics {
        state.withLock { state in
            Statistics(
                lanes: lanes.count, capacity: capacity, reserved: state.reserved,
                running: lanes.count - state.idle.count, waiting: state.waiting.count,
                rejected: state.rejected, waits: state.waiting.waits)
        }
    }

    /// Whether a caller that came now would be rejected.
    /// - Parameter client: as in ``reserve(for:)``.
    public func isFull(for client: IPAddress?) -> Bool {
        state.withLock { !hasPlace(for: client, $0) }
    }

    /// Takes a place without waiting. For work that must not be rejected half-way: changes that
    /// cannot be undone are made only while the place is reserved.
    /// - Parameter client: the address of the client that asked for the work; `nil` for the
    ///   server's own work, which has no share.
    public func reserve(for client: IPAddress?) throws(Full) -> Place {
        let isReserved = state.withLock { state in
            guard hasPlace(for: client, state) else {
                state.rejected += 1
                return false
            }
            state.reserved += 1
            if let client, shared != nil { state.held.add(client) }
            return true
        }
        guard isReserved else { throw Full(pool: name, retryAfter: retryAfter) }
        return Place(in: self, for: client)
    }

    /// Runs one job: ``reserve(for:)`` and ``Place/run(_:)`` in one call.
    /// - Throws: ``Full`` before anything has run, and what ``Place/run(_:)`` throws.
    public func run<T: Sendable>(
        for client: IPAddress?, _ work: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await reserve(for: client).run(work)
    }

    /// Begins a job for several callers, which each hold a place and wait for it. It takes its
    /// turn as the server's own work, and is not cancelled.
    /// - Parameter work: gets the index of its lane, which is kept until ``giveBack(lane:)``.
    public func begin(_ work: @escaping @Sendable (Int) -> Void) {
        let ticket = state.withLock { $0.takeTicket() }
        submit(PoolJob(work: .keepingLane(work), cancel: {}), ticket: ticket, of: nil)
    }

    /// Lets the next job run on a lane that was taken.
    public func giveBack(lane: Int) {
        guard let next = nextPass(of: lane) else { return }
        lanes[lane].perform { self.drain(lane, first: next) }
    }

    private func takeIdleLane() -> Int? {
        state.withLock { state in
            let lane = popIdleLane(&state)
            if lane != nil { state.waiting.countRunAtOnce() }
            return lane
        }
    }

    private func popIdleLane(_ state: inout State) -> Int? {
        guard let own = state.idle.lastIndex(where: { lanes[$0].isCurrent }) else {
            return state.idle.popLast()
        }
        return state.idle.remove(at: own)
    }

    private func giveBack(_ client: IPAddress?) {
        state.withLock { state in
            state.reserved -= 1
            if let client, shared != nil { state.held.remove(client) }
        }
    }

    private func hasPlace(for client: IPAddress?, _ state: borrowing State) -> Bool {
        guard state.reserved < capacity else { return false }
        guard let client, let shared else { return true }
        let held = state.held.count(of: client)
        let rest = shared - state.reserved - 1
        return (held.client == 0 || 3 * (held.client + 1) <= rest)
            && (held.site == 0 || held.site + 1 <= rest)
    }

    /// - Parameter makeJob: the job that resumes the continuation when it is run or cancelled.
    private func enqueue<T: Sendable>(
        of client: IPAddress?, from caller: isolated (any Actor)? = #isolation,
        _ makeJob: (CheckedContinuation<T, any Error>) -> PoolJob
    ) async throws -> T {
        // If a lane is free, the job would otherwise begin at once, although its caller was
        // cancelled.
        try Task.checkCancellation()
        let ticket = state.withLock { $0.takeTicket() }
        return try await withTaskCancellationHandler {
            // Without `isolation` the closure would run on the global executor, which costs two
            // thread switches.
            try await withCheckedThrowingContinuation(isolation: caller) { continuation in
                submit(makeJob(continuation), ticket: ticket, of: client)
                // A caller that was cancelled before there was a job could not be told then.
                if Task.isCancelled { withdraw(ticket, of: client) }
            }
        } onCancel: {
            withdraw(ticket, of: client)
        }
    }

    private func submit(_ job: PoolJob, ticket: UInt64, of client: IPAddress?) {
        let lane: Int? = state.withLock { state in
            let lane = popIdleLane(&state)
            if lane == nil {
                state.waiting.append(job, ticket: ticket, of: client)
            } else {
                state.waiting.countRunAtOnce()
            }
            return lane
        }
        if let lane { lanes[lane].perform { self.drain(lane, first: job.pass) } }
    }

    private func drain(_ lane: Int, first: Pass?) {
        var next = first
        while let pass = next {
            pass.run(lane)
            if pass.keepsLane { return }
            next = nextPass(of: lane)
        }
    }

    /// - Returns: `nil` when no job waits; then the lane is idle.
    private func nextPass(of lane: Int) -> Pass? {
        state.withLock { state in
            if let pass = state.waiting.popPass() { return pass }
            state.idle.append(lane)
            return nil
        }
    }

    private func withdraw(_ ticket: UInt64, of client: IPAddress?) {
        let job: PoolJob? = state.withLock { $0.waiting.remove(ticket, of: client) }
        job?.cancel()
    }
}

/// Runs the work of a job that keeps its lane.
private actor LaneActor {
    private let executor: any SerialLane

    init(_ executor: any SerialLane) {
        self.executor = executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    func run<T: Sendable>(_ work: @Sendable () async throws -> T) async throws -> T {
        // If nothing before the call needed the lane, the compiler (Swift 6.3) would leave out the
        // change to it.
        executor.checkIsolated()
        return try await work()
    }
}
