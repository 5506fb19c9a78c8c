internal import Glibc
public import Scheduling
internal import Synchronization

/// A system call that a server needs has failed.
public struct SocketError: Error, Hashable, Sendable, CustomStringConvertible {
    public let call: String
    /// The errno.
    public let code: Int32

    public var description: String { "\(call) failed: \(String(cString: strerror(code)))" }
}

/// An HTTP/1.1 server with its listeners and event loops.
///
/// Use: `start` once. To stop, call `beginDraining` (responses close their connections, the
/// listeners still accept), then `drain`. Guarantees: after `drain` no connection is open and no
/// handler is called any more.
public final class Server: Sendable {
    private let context: ServerContext
    private let listeners: [Listener]
    private let eventLoops: [EventLoop]?
    private let loops = Mutex<[Loop]>([])

    /// - Parameter eventLoops: at least one, which the caller stops after the server; by default
    ///   the server makes those of its configuration.
    public init(
        configuration: ServerConfiguration, listeners: [Listener], hooks: ServerHooks,
        on eventLoops: [EventLoop]? = nil
    ) {
        self.eventLoops = eventLoops
        var routes = [ServerContext.noRoute]
        self.listeners = listeners.map { $0.counted(in: &routes) }
        context = ServerContext(configuration: configuration, hooks: hooks, routes: routes)
    }

    /// The gauges and counters of this moment. May be called from anywhere at any time.
    public var statistics: ServerStatistics {
        var rejections = context.limiter.rejections
        rejections.merge(context.separateLimiter.rejections)
        rejections.merge(context.rejections.counts)
        return ServerStatistics(
            openConnections: context.limiter.total,
            requestsInFlight: running.reduce(0) { $0 + $1.requestsInFlight.value },
            bufferedBytes: context.budget.grantedBytes,
            acceptedConnections: context.limiter.accepted, rejections: rejections.counts)
    }

    /// What was answered, read and sent since the start. Each loop is asked for its numbers, and
    /// spends some microseconds on a copy.
    public func traffic() async -> ServerTraffic {
        var total = RequestCounts(rows: context.routes.count)
        for loop in running { total.add(await loop.counts) }
        return total.traffic(of: context.routes)
    }

    /// Binds every listener that is not bound yet, and begins to accept.
    /// - Returns: the addresses in the order of the listeners, port 0 resolved.
    /// - Throws: ``SocketError``, or `EventLoop.Failure`.
    public func start() throws -> [ListenAddress] {
        let configuration = context.configuration
        let prefix = UInt32.random(in: .min ... .max)
        var sockets: [ListeningSocket] = []
        let loops: [Loop]
        do {
            for listener in listeners {
                sockets.append(try ListeningSocket(listener, backlog: configuration.backlog))
            }
            let executors = try eventLoops ?? configuration.makeEventLoops()
            loops = executors.enumerated().map { index, executor in
                Loop(
                    context: context, index: index, of: executors.count, idPrefix: prefix,
                    on: executor)
            }
        } catch {
            for socket in sockets { socket.close() }
            throw error
        }
        self.loops.withLock {
            precondition($0.isEmpty, "a server starts once")
            $0 = loops
        }
        for loop in loops { loop.enter { $0.run() } }
        loops[0].enter { [sockets] in $0.accept(from: sockets, onto: loops) }
        return sockets.map(\.address)
    }

    /// Serves other services on the same listeners. Each request is answered by the service that
    /// its head was read for: the one before or the one after, as a whole.
    /// - Parameter services: in the order of the listeners, each of the kind that is served there.
    ///   The proxies of HTTP must speak the PROXY protocol as before, and the templates of routes
    ///   must be those that requests are counted by: no others, so that the counters go on.
    public func replace(_ services: [Listener.Service]) async {
        var routes = context.routes
        let services = services.map { $0.counted(in: &routes) }
        precondition(services.count == listeners.count && routes == context.routes)
        let loops = running
        // First, so that a connection that was accepted before is on its loop when that is told.
        await loops.first?.acceptFor(services)
        for loop in loops { await loop.serve(services) }
    }

    /// Returns when every loop has taken a turn: none is stuck.
    public func awaitTurn() async {
        for loop in running { await loop.takeTurn() }
    }

    /// When it returns, every response closes its connection; the listeners still accept.
    public func beginDraining() async {
        for loop in running { await loop.beginDraining() }
    }

    /// Closes the listeners. Connections stay open.
    public func stopAccepting() {
        guard let first = running.first else { return }
        first.enter { $0.stopAccepting() }
    }

    /// Stops: closes the listeners, then each connection as soon as it has had no request for
    /// `drainGrace`, waits up to `drainDeadline` for requests in flight, and aborts the rest.
    /// - Returns: what the aborted connections had not finished, and how many of them. Empty where
    ///   all requests were answered.
    @discardableResult
    public func drain() async -> [String: Int] {
        let loops = running
        guard let first = loops.first else { return [:] }
        await first.stopAccepting()
        let deadline = context.configuration.drainDeadline
        let abort = Task {
            var aborted: [String: Int] = [:]
            do {
                try await Task.sleep(for: deadline)
            } catch {
                return aborted
            }
            for loop in loops {
                for work in await loop.abort() { aborted[work, default: 0] += 1 }
            }
            return aborted
        }
        await withTaskGroup { group in
            for loop in loops { group.addTask { await loop.drain() } }
        }
        abort.cancel()
        for loop in loops {
            await loop.shutDown()
            if eventLoops == nil { loop.executor.stop() }
        }
        return await abort.value
    }

    private var running: [Loop] { loops.withLock { $0 } }
}
