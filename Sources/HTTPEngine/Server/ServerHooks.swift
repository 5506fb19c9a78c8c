/// One answered request, for the access log.
public struct AccessRecord: Sendable {
    /// nil when not even the request line could be read.
    public let method: Method?
    /// The route's template, never the path, which may hold secrets; `-` where no route was found.
    public let route: String
    /// As it was sent; 499 where the client was gone and its handler gave up for that.
    public let status: Int
    /// Octets of the reply, head and body.
    public let bytes: Int
    /// From the first octet of the request to its reply being handed to the kernel or outbox.
    public let duration: Duration
    public let peer: PeerAddress
    public let id: RequestID

    public var requestID: String { id.description }

    public init(
        method: Method?, route: String, status: Int, bytes: Int, duration: Duration,
        peer: PeerAddress, id: RequestID
    ) {
        self.method = method
        self.route = route
        self.status = status
        self.bytes = bytes
        self.duration = duration
        self.peer = peer
        self.id = id
    }
}

/// Something that is ours to mend, for the log.
public struct FaultRecord: Sendable {
    /// nil when it belongs to no request.
    public let id: RequestID?
    public let error: any Error

    public var requestID: String? { id?.description }

    public init(id: RequestID?, error: any Error) {
        self.id = id
        self.error = error
    }
}

/// What the server tells its owner. Called on the loops: must be quick, must not block.
public struct ServerHooks: Sendable {
    /// Once for every request, refused and malformed ones too.
    public var access: (@Sendable (AccessRecord) -> Void)?
    /// Once for every error that was answered 500, for every reply that could not be written, and
    /// for connections that could not be accepted or whose proxy did not say whom it speaks for.
    public var fault: (@Sendable (FaultRecord) -> Void)?

    public init(
        access: (@Sendable (AccessRecord) -> Void)? = nil,
        fault: (@Sendable (FaultRecord) -> Void)? = nil
    ) {
        self.access = access
        self.fault = fault
    }
}
