public import Networking

/// One answered request, for the access log.
public struct AccessRecord: Sendable {
    /// nil when the request line could not be read.
    public let method: Method?
    /// The route's template, never the path, which may hold secrets; `-` where no route was found.
    public let route: String
    /// As it was sent; 499 where the client had closed the connection and the handler was
    /// cancelled.
    public let status: Int
    /// Bytes of the response, head and body.
    public let bytes: Int
    /// From the first byte of the request to the end of the handler.
    public let duration: Duration
    public let peer: SocketAddress
    public let id: RequestID
    /// The trace that the client names.
    public let trace: TraceContext?

    public var requestID: String { id.description }

    public init(
        method: Method?, route: String, status: Int, bytes: Int, duration: Duration,
        peer: SocketAddress, id: RequestID, trace: TraceContext? = nil
    ) {
        self.method = method
        self.route = route
        self.status = status
        self.bytes = bytes
        self.duration = duration
        self.peer = peer
        self.id = id
        self.trace = trace
    }
}

/// An error of the server or of its operation, for the log.
public struct ErrorRecord: Sendable {
    /// nil when it belongs to no request.
    public let id: RequestID?
    /// The trace that the client of the request names.
    public let trace: TraceContext?
    public let error: any Error

    public var requestID: String? { id?.description }

    public init(id: RequestID?, trace: TraceContext? = nil, error: any Error) {
        self.id = id
        self.trace = trace
        self.error = error
    }
}

/// Callbacks for the log. They run on the loops: they must be quick and must not block.
public struct ServerHooks: Sendable {
    /// Once for every request, also for rejected and malformed ones.
    public var access: (@Sendable (AccessRecord) -> Void)?
    /// Once for every error that was answered 500, with its cause, and for connections that could
    /// not be accepted or had no valid PROXY protocol header.
    public var error: (@Sendable (ErrorRecord) -> Void)?

    public init(
        access: (@Sendable (AccessRecord) -> Void)? = nil,
        error: (@Sendable (ErrorRecord) -> Void)? = nil
    ) {
        self.access = access
        self.error = error
    }
}

extension Status {
    /// Only in the access log, never sent; nginx has the same code.
    static let clientClosedConnection = Status(code: 499)
}
