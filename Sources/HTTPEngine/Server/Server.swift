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

/// A system call that a server cannot start without has failed.
public struct SocketError: Error, Sendable, CustomStringConvertible {
    public let call: String
    public let code: Int32

    public var description: String { "\(call) failed with errno \(code)" }
}

/// An HTTP/1.1 server on its own listeners and loops.
public final class Server: Sendable {
    public init(configuration: ServerConfiguration, router: Router, hooks: ServerHooks) {
    }

    /// Binds, listens and begins to accept.
    /// - Returns: what it listens on, port 0 resolved.
    public func start() throws -> [BoundAddress] { [] }

    /// From now on every answer closes its connection; the listener still accepts.
    public func beginDraining() {}

    /// Closes the listeners. Connections go on.
    public func stopAccepting() {}

    /// Stops: no listener, idle connections closed, requests in flight get `drainDeadline`.
    public func drain() async {}
}
