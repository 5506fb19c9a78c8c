internal import CSocket
internal import Glibc
internal import Networking
internal import Scheduling

/// The connections of one event loop. It waits for their events, and serves all ready connections
/// in one turn. The jobs of the event loop run between turns.
actor Loop {
    nonisolated let executor: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated let requestsInFlight = LoopGauge()

    let context: ServerContext
    var epoll: Int32 { executor.epoll }
    private(set) var now = MonotonicTime.now()
    private(set) var date = HTTPDate()
    /// Every response closes its connection.
    private(set) var isDraining = false
    /// And idle connections are closed.
    private(set) var isStopping = false
    /// Its connections count here the bytes that they read and send.
    var counts: RequestCounts

    /// When deadlines are checked next; nil without a connection.
    private var nextTick: MonotonicTime?
    private var connections: [Int32: any LoopConnection] = [:]
    private var rejectedConnections = 0
    private var acceptor: Acceptor?
    private let idPrefix: UInt32
    private let idStride: UInt64
    private var lastID: UInt64
    private var drainWaiters: [CheckedContinuation<Void, Never>] = []

    /// The most connections beyond a limit that are open until they have read their 503.
    private static let maxRejectedConnections = 64

    /// - Parameters:
    ///   - index: which of `count` loops this is; it uses every `count`th request id.
    ///   - idPrefix: the process's part of request ids.
    ///   - executor: takes turns already, and serves no other ``Loop``.
    init(
        context: ServerContext, index: Int, of count: Int, idPrefix: UInt32,
        on executor: EventLoop
    ) {
        self.context = context
        counts = RequestCounts(rows: context.routes.count)
        self.idPrefix = idPrefix
        idStride = UInt64(count)
        lastID = UInt64(index)
        self.executor = executor
    }

    /// Begins to serve, until ``shutDown()``.
    func run() { executor.takeTurns { self.assumeIsolated { $0.serve() } } }

    func shutDown() { executor.takeTurns(nil) }

    /// Runs something on the loop soon, in the order of calls.
    nonisolated func enter(_ body: @escaping @Sendable (isolated Loop) -> Void) {
        executor.perform { self.assumeIsolated(body) }
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

    func report(_ error: any Error, of exchange: Exchange) {
        context.hooks.error?(
            ErrorRecord(id: exchange.id, trace: exchange.head?.trace, error: error))
    }

    /// Counts an answered request, and passes it to the hook.
    func record(_ exchange: Exchange, _ status: Status, bytes: Int) {
        let nanoseconds = now.nanoseconds - exchange.began.nanoseconds
        counts.count(
            exchange.route?.row ?? 0, exchange.head?.method, status: status.code,
            nanoseconds: Int(nanoseconds))
        guard let access = context.hooks.access else { return }
        access(
            AccessRecord(
                method: exchange.head?.method,
                route: exchange.route?.route.template ?? ServerContext.noRoute,
                status: status.code, bytes: bytes, duration: now.duration(since: exchange.began),
                peer: exchange.client, id: exchange.id, trace: exchange.head?.trace))
    }

    // MARK: Connections

    /// Takes over a connection that was accepted for HTTP.
    func adopt(
        _ plain: PlainTransport, _ tls: TLSContext?, of listener: Int, from peer: SocketAddress,
        _ service: HTTPService, as admission: Connection.Admission
    ) {
        guard admission != .rejected || acquireRejected() else { return plain.close() }
        let transport = ConnectionTransport(
            plain, tls, awaitsProxyHeader: admission == .unassigned)
        adopt(transport, of: listener, from: peer, service, as: admission)
    }

    func adopt(
        _ transport: ConnectionTransport, of listener: Int = 0, from peer: SocketAddress,
        _ service: HTTPService, as admission: Connection.Admission
    ) {
        refresh()
        add(
            Connection(
                transport, service: service, of: listener, peer: peer, admission: admission,
                context: context, at: now))
    }

    /// Takes over a connection that was accepted for sessions, within the limits of the service.
    func adopt(_ transport: PlainTransport, _ place: SessionPlace, _ service: SessionService) {
        refresh()
        add(service.handler.connection(transport, place, service, context, at: now))
    }

    private func add(_ connection: any LoopConnection) {
        connections[connection.descriptor] = connection
        startTicking()
        connection.open(on: self)
    }

    /// Counts one more connection that is only answered 503.
    /// - Returns: false when there are too many of them; then nothing is counted.
    func acquireRejected() -> Bool {
        guard rejectedConnections < Loop.maxRejectedConnections else { return false }
        rejectedConnections += 1
        return true
    }

    func releaseRejected() { rejectedConnections -= 1 }

    /// A connection closes its transport.
    func forget(_ connection: any LoopConnection) {
        connections[connection.descriptor] = nil
        connection.release(on: self)
        guard connections.isEmpty, isStopping else { return }
        for waiter in drainWaiters { waiter.resume() }
        drainWaiters = []
    }

    func accept(from sockets: [ListeningSocket], onto loops: [Loop]) {
        acceptor = Acceptor(sockets: sockets, loops: loops, on: self)
    }

    /// Connections that are accepted from now on get other services, by their listener.
    func acceptFor(_ services: [Listener.Service]) { acceptor?.serve(services) }

    /// The next requests of open connections get other services, by their listener.
    func serve(_ services: [Listener.Service]) {
        for connection in connections.values { connection.serve(services) }
    }

    /// Lets a connection go on after the others.
    func resume(_ descriptor: Int32) {
        enter { $0.connections[descriptor]?.resume(on: $0) }
    }

    /// An empty job: when it runs, everything before it is done.
    func takeTurn() {}

    /// Connections that the kernel has completed already are still served, unless another process
    /// has the socket, too.
    func stopAccepting() {
        acceptor?.close(on: self)
        acceptor = nil
    }

    func beginDraining() { isDraining = true }

    /// Returns when the last connection is closed.
    func drain() async {
        isDraining = true
        isStopping = true
        refresh()
        for connection in Array(connections.values) { connection.drain(on: self) }
        guard !connections.isEmpty else { return }
        await withCheckedContinuation { drainWaiters.append($0) }
    }

    /// Closes every connection.
    /// - Returns: what they had not finished.
    func abort() -> [String] {
        Array(connections.values).compactMap { connection in
            let work = connection.pendingWork
            connection.abort(on: self)
            return work
        }
    }

    // MARK: Events

    /// Waits for events and serves them until there are jobs.
    private func serve() {
        repeat {
            serveReady()
            if let nextTick, nextTick <= now { tick() }
        } while !executor.hasJobs
    }

    private func serveReady() {
        let capacity = 128
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: capacity) { descriptors in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: capacity) { events in
                let count = executor.wait(for: millisecondsToTick, descriptors, events)
                refresh()
                for index in 0..<max(0, count) {
                    serve(descriptors[index], events[index])
                }
            }
        }
    }

    /// Negative without a tick.
    private var millisecondsToTick: Int32 {
        guard let nextTick else { return -1 }
        return Int32(clamping: max(0, nextTick.nanoseconds - now.nanoseconds + 999_999) / 1_000_000)
    }

    /// A descriptor that was closed earlier in this turn may belong to a new connection by now.
    /// That one then finds nothing to read.
    private func serve(_ descriptor: Int32, _ events: UInt32) {
        if let connection = connections[descriptor] {
            connection.ready(events, on: self)
        } else if !executor.serve(descriptor) {
            acceptor?.ready(descriptor, on: self)
        }
    }

    private func tick() {
        acceptor?.resume(on: self)
        for connection in Array(connections.values) { connection.tick(on: self) }
        let isNeeded = !connections.isEmpty || acceptor?.isPaused == true
        nextTick = isNeeded ? now + context.tick : nil
    }

    /// Deadlines are checked until there is no connection.
    func startTicking() {
        if nextTick == nil { nextTick = now + context.tick }
    }
}
