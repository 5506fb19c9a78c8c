internal import Glibc
internal import Synchronization

/// Where a server listens.
public struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// As a URL has it: IPv6 in brackets.
    public let host: String
    public let port: UInt16

    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    public var description: String { "\(host):\(port)" }
}

/// A system call that a server cannot do without has failed.
public struct SocketError: Error, Hashable, Sendable, CustomStringConvertible {
    public let call: String
    /// The errno.
    public let code: Int32

    public var description: String { "\(call) failed: \(String(cString: strerror(code)))" }
}

/// An HTTP/1.1 server on its own listeners and loops.
///
/// Use: `start` once; to stop, `beginDraining` (answers close their connections, the listener still
/// accepts), then `drain`. Promises: after `drain` no connection is open and no handler is asked
/// any more.
public final class Server: Sendable {
    private let context: ServerContext
    private let loops = Mutex<[Loop]>([])

    public init(configuration: ServerConfiguration, router: Router, hooks: ServerHooks) {
        context = ServerContext(configuration: configuration, router: router, hooks: hooks)
    }

    /// Connections that are open now.
    public var connections: Int { context.census.total }

    /// Binds, listens and begins to accept.
    /// - Returns: what it listens on, port 0 resolved.
    /// - Throws: ``SocketError``.
    public func start() throws -> [BoundAddress] {
        let configuration = context.configuration
        let count = max(1, configuration.loops ?? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let prefix = UInt32.random(in: .min ... .max)
        let (listener, address) = try Listener.open(
            host: configuration.host, port: configuration.port, backlog: configuration.backlog)
        let loops = try (0..<count).map {
            try Loop(context: context, index: $0, of: count, idPrefix: prefix)
        }
        self.loops.withLock {
            precondition($0.isEmpty, "a server starts once")
            $0 = loops
        }
        for loop in loops { loop.enter { $0.run() } }
        loops[0].enter { $0.accept(from: [listener], onto: loops) }
        return [address]
    }

    /// When it returns, every answer closes its connection; the listener still accepts.
    public func beginDraining() async {
        for loop in running { await loop.beginDraining() }
    }

    /// Closes the listener. Connections go on.
    public func stopAccepting() {
        guard let first = running.first else { return }
        first.enter { $0.stopAccepting() }
    }

    /// Stops: closes the listener and idle connections, gives requests in flight `drainDeadline`
    /// to be answered, and cuts off the rest.
    public func drain() async {
        let loops = running
        guard let first = loops.first else { return }
        await first.stopAccepting()
        let patience = context.configuration.drainDeadline
        let guillotine = Task {
            try await Task.sleep(for: patience)
            for loop in loops { await loop.abort() }
        }
        await withTaskGroup { group in
            for loop in loops { group.addTask { await loop.drain() } }
        }
        guillotine.cancel()
        for loop in loops { await loop.shutDown() }
    }

    private var running: [Loop] { loops.withLock { $0 } }
}
