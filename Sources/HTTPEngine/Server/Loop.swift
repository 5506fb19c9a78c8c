internal import CSocket
internal import Dispatch
internal import Glibc
internal import Scheduling

/// One serial queue with its connections: a Dispatch source on one epoll descriptor wakes it, and
/// everything that is ready is then served in one turn.
///
/// One source for all connections, not one each: at 64 busy connections a turn of Dispatch (5 µs)
/// is shared by what became ready meanwhile, and an idle connection costs no source.
actor Loop {
    nonisolated let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let context: ServerContext
    let epoll: Int32
    private(set) var now = MonotonicTime.now()
    private(set) var date = HTTPDate()
    /// Every answer closes its connection.
    private(set) var isDraining = false
    /// And quiet connections are closed.
    private(set) var isStopping = false

    private var source: (any DispatchSourceRead)?
    private var timer: (any DispatchSourceTimer)?
    private var isTicking = false
    private var connections: [Int32: Connection] = [:]
    private var surplus = 0
    private var acceptor: Acceptor?
    private let idPrefix: UInt32
    private let idStride: UInt64
    private var lastID: UInt64
    private var whenEmpty: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - index: which of `count` loops this is; it takes every `count`th request id.
    ///   - idPrefix: the process's part of request ids.
    init(context: ServerContext, index: Int, of count: Int, idPrefix: UInt32) throws {
        self.context = context
        self.idPrefix = idPrefix
        idStride = UInt64(count)
        lastID = UInt64(index)
        executor = QueueExecutor(label: "http.loop.\(index)")
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SocketError(call: "epoll_create1", code: errno) }
        self.epoll = epoll
    }

    /// Begins to serve; the loop then lives until ``shutDown()``.
    func run() {
        let epoll = epoll
        let source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: executor.queue)
        let timer = DispatchSource.makeTimerSource(queue: executor.queue)
        source.setEventHandler { self.assumeIsolated { $0.poll() } }
        source.setCancelHandler { close(epoll) }
        timer.setEventHandler { self.assumeIsolated { $0.tick() } }
        source.activate()
        timer.activate()
        self.source = source
        self.timer = timer
    }

    func shutDown() {
        source?.cancel()
        timer?.cancel()
        source = nil
        timer = nil
    }

    /// Does something on the loop soon, in the order of calls.
    nonisolated func enter(_ body: @escaping @Sendable (isolated Loop) -> Void) {
        executor.queue.async { self.assumeIsolated(body) }
    }

    /// Reads the clocks.
    @discardableResult
    func refresh() -> MonotonicTime {
        now = .now()
        date.update(to: csocket_wall_seconds())
        return now
    }

    func nextID() -> RequestID {
        lastID &+= idStride
        return RequestID(prefix: idPrefix, number: lastID)
    }

    func report(_ error: any Error, for id: RequestID?) {
        context.hooks.error?(ErrorRecord(id: id, error: error))
    }

    /// Serves what is ready now, and what became ready meanwhile: asking the kernel again is much
    /// cheaper than a turn of Dispatch. Only a few times, for handlers that have waited for
    /// something wait in the queue for this turn to end.
    private func poll() {
        for _ in 0..<4 where !serveReady() { return }
    }

    /// False when nothing was.
    private func serveReady() -> Bool {
        refresh()
        let room = 128
        return withUnsafeTemporaryAllocation(of: Int32.self, capacity: room) { descriptors in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: room) { events in
                let count = csocket_ready(
                    epoll, descriptors.baseAddress, events.baseAddress, Int32(room))
                for index in 0..<max(0, Int(count)) {
                    serve(descriptors[index], events[index])
                }
                return count > 0
            }
        }
    }

    /// A descriptor closed earlier in this turn may be a new connection's by now; that one then
    /// finds nothing to read.
    private func serve(_ descriptor: Int32, _ events: UInt32) {
        if let connection = connections[descriptor] {
            connection.ready(events, on: self)
        } else {
            acceptor?.ready(descriptor, on: self)
        }
    }

    private func tick() {
        refresh()
        acceptor?.resume(on: self)
        for connection in Array(connections.values) { connection.tick(on: self) }
        if connections.isEmpty, acceptor?.isPaused != true {
            isTicking = false
            timer?.schedule(deadline: .distantFuture)
        }
    }

    /// One coarse timer looks at every deadline; it rests while there is none.
    func startTicking() {
        guard !isTicking else { return }
        isTicking = true
        let interval = DispatchTimeInterval.nanoseconds(Int(context.tick.nanoseconds))
        timer?.schedule(deadline: .now() + interval, repeating: interval)
    }
}

// MARK: - Connections come and go

extension Loop {
    /// Connections over the caps that wait for their 503 to be read, at most.
    private static let mostSurplus = 64

    /// Takes over an accepted descriptor.
    func adopt(
        _ descriptor: Int32, from peer: PeerAddress, on socket: ListeningSocket,
        as standing: Connection.Standing
    ) {
        guard standing != .surplus || admitSurplus() else {
            close(descriptor)
            return
        }
        refresh()
        let connection = Connection(
            descriptor: descriptor, listener: socket.listener, peer: peer, standing: standing,
            context: context, at: now)
        connections[descriptor] = connection
        startTicking()
        connection.open(on: self)
    }

    /// Room for one more that is only told that there is none.
    func admitSurplus() -> Bool {
        guard surplus < Loop.mostSurplus else { return false }
        surplus += 1
        return true
    }

    /// The connection has closed its descriptor.
    func forget(_ connection: Connection) {
        connections[connection.descriptor] = nil
        switch connection.standing {
        case .named: context.limiter.leave(connection.peer)
        case .unnamed: context.limiter.leave(nil)
        case .surplus: surplus -= 1
        }
        guard connections.isEmpty, isStopping else { return }
        for waiter in whenEmpty { waiter.resume() }
        whenEmpty = []
    }

    func accept(from sockets: [ListeningSocket], onto loops: [Loop]) {
        acceptor = Acceptor(sockets: sockets, loops: loops, on: self)
    }

    /// What the kernel has accepted already is still served.
    func stopAccepting() {
        acceptor?.close(on: self)
        acceptor = nil
    }

    func beginDraining() { isDraining = true }

    /// Returns when the last connection is gone.
    func drain() async {
        isDraining = true
        isStopping = true
        refresh()
        for connection in Array(connections.values) { connection.drain(on: self) }
        guard !connections.isEmpty else { return }
        await withCheckedContinuation { whenEmpty.append($0) }
    }

    /// Cuts off whoever is left.
    func abort() {
        for connection in Array(connections.values) { connection.abort(on: self) }
    }
}
