internal import AuthCore
internal import Scheduling
internal import Synchronization

/// A connection that is opened when it is needed, and again after it was lost.
///
/// Confined to an event loop, which waits for the server's answers. Transactions of several callers
/// are executed one after the other. Only connecting takes a thread of its own.
actor PostgresConnection {
    private let loop: EventLoop
    private let opener = PostgresOpener()
    private let url: PostgresURL
    private let settings: PostgresSettings
    private let reachability: Reachability
    private let roundTrips: RoundTrips
    private var handle: PostgresHandle? {
        didSet { openness.store(handle != nil, ordering: .relaxed) }
    }
    private nonisolated let openness = Atomic<Bool>(false)
    /// The descriptor that the loop watches; negative when there is none.
    private var watched: Int32 = -1
    private var opening = ContinuousClock.now
    /// How long the caller waits whose statements have been sent; `nil` when there is none.
    private var tripEnd: ContinuousClock.Instant?
    /// What became of the last statements.
    private var outcome: Result<[PostgresResult], PostgresFailure> = .success([])
    private let arrival = Suspension()
    /// Whether a task checks the time of trips.
    private var isTimed = false
    private var isTaken = false
    private var nextCallers: [CheckedContinuation<Void, Never>] = []
    private var isClosed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// Whether there is a connection, which may have been lost without notice.
    nonisolated var isOpen: Bool { openness.load(ordering: .relaxed) }

    init(
        _ url: PostgresURL, settings: PostgresSettings, on loop: EventLoop,
        _ reachability: Reachability, roundTrips: RoundTrips
    ) {
        self.url = url
        self.settings = settings
        self.loop = loop
        self.reachability = reachability
        self.roundTrips = roundTrips
    }

    /// Uses a connection that was opened elsewhere. Called before the others.
    func adopt(_ handle: sending PostgresHandle) {
        opening = .now
        use(handle)
    }

    func close() async {
        await take()
        defer { giveBack() }
        drop()
        isClosed = true
    }

    /// As ``PostgresPool/run(_:_:)``. Statements that a broken connection did not send are sent
    /// again on a new one.
    func run<T: Sendable>(
        _ statements: [PostgresStatement], _ read: @Sendable ([PostgresResult]) throws -> T
    ) async throws -> T {
        await take()
        defer { giveBack() }
        do {
            return try read(try await results(of: statements))
        } catch PostgresFailure.lost(wasSent: false, _) {
            return try read(try await results(of: statements))
        }
    }

    /// Begins work at once.
    func begin(_ work: @escaping @Sendable (isolated PostgresConnection) async -> Void) {
        _ = Task.immediate { await work(self) }
    }

    /// Resumes tasks from one that runs.
    nonisolated func resume(_ waiting: [Suspension]) {
        loop.perform { for suspension in waiting { suspension.resume() } }
    }

    /// Waits until no other caller uses the connection.
    private func take() async {
        guard isTaken else { return isTaken = true }
        await withCheckedContinuation { nextCallers.append($0) }
    }

    private func giveBack() {
        guard !nextCallers.isEmpty else { return isTaken = false }
        nextCallers.removeFirst().resume()
    }

    private func results(of statements: [PostgresStatement]) async throws -> [PostgresResult] {
        let handle = try await opened()
        let begin = ContinuousClock.now
        let elapsed = ElapsedTime()
        defer { roundTrips.record(statements, nanoseconds: elapsed.nanoseconds) }
        do {
            try handle.send(statements)
            if !handle.isFlushed { watch(handle) }
            tripEnd = begin + handle.timeout
            checkTime()
            await arrival.wait()
            defer { outcome = .success([]) }
            return try outcome.get()
        } catch PostgresFailure.lost(let wasSent, let cause) {
            // The other connections are probably lost, too, and would notice it only one after
            // another.
            if wasSent { reachability.noteLoss(of: handle.host, since: begin) }
            drop()
            throw PostgresFailure.lost(wasSent: wasSent, cause: cause)
        }
    }

    // MARK: Events

    private func watch(_ handle: PostgresHandle) {
        watched = handle.socket
        loop.watch(watched, writes: !handle.isFlushed) { [weak self] in
            self?.assumeIsolated { $0.ready() }
        }
    }

    private func unwatch() {
        if watched >= 0 { loop.unwatch(watched) }
        watched = -1
    }

    private func ready() {
        guard let handle else { return }
        // libpq closes a socket as soon as it notices the loss. In another turn the number may
        // belong to a descriptor that is watched for somebody else.
        defer { if handle.socket != watched { unwatch() } }
        guard tripEnd != nil else {
            if !handle.isAlive() { drop() }
            return
        }
        do throws(PostgresFailure) {
            let wasFlushed = handle.isFlushed
            let results = try handle.receive()
            if handle.isFlushed != wasFlushed { watch(handle) }
            guard let results else { return }
            outcome = .success(results)
        } catch {
            outcome = .failure(error)
        }
        tripEnd = nil
        arrival.resume()
    }

    /// Ends a trip whose time is over. One task does this for many trips.
    private func checkTime() {
        guard !isTimed else { return }
        isTimed = true
        Task { [weak self] in
            while let next = await self?.nextCheck() {
                try? await Task.sleep(until: next, clock: .continuous)
            }
        }
    }

    private func nextCheck() -> ContinuousClock.Instant? {
        if let end = tripEnd, end <= .now {
            outcome = .failure(.lost(wasSent: true, cause: PostgresHandle.silence))
            tripEnd = nil
            resume([arrival])
        }
        isTimed = tripEnd != nil
        return tripEnd
    }

    // MARK: Opening

    private func opened() async throws -> PostgresHandle {
        guard !isClosed else { throw StorageError.closed }
        if let handle, !reachability.hasLoss(since: opening) { return handle }
        drop()
        try reachability.beginAttempt()
        opening = .now
        do {
            let opened = try await opener.open(
                url, settings: settings, order: reachability.order)
            reachability.endAttempt(nil)
            use(opened)
            return opened
        } catch {
            reachability.endAttempt("\(error)")
            throw NoConnection(cause: "\(error)")
        }
    }

    private func use(_ opened: PostgresHandle) {
        reachability.note(opened.host)
        handle = opened
        watch(opened)
    }

    private func drop() {
        unwatch()
        handle = nil
    }
}

/// Connects, which blocks: libpq looks up names, and tries one host after the other.
private actor PostgresOpener {
    private let executor = QueueExecutor(label: "postgres.connect")

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    func open(
        _ url: PostgresURL, settings: PostgresSettings, order: PostgresHostOrder
    ) throws -> sending PostgresHandle {
        // If nothing before the call needed the queue, the compiler would leave out the change to
        // it.
        executor.checkIsolated()
        return try PostgresHandle(url, settings: settings, order: order)
    }
}
