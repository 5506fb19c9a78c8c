/// What went wrong with a request, for a surface to render in its own error shape.
public enum Fault: Sendable {
    /// Not a request that HTTP/1.1 allows. `error.status` is 400, 414, 417, 431, 501 or 505.
    case malformed(ParseError)
    /// 404.
    case notFound
    /// 405; the engine adds `Allow`.
    case methodNotAllowed(allowed: [Method])
    /// 413. `limit` in bytes.
    case bodyTooLarge(limit: Int)
    /// 408: the head or the body did not arrive in its time.
    case timeout
    /// 503; the engine adds `Retry-After` with these seconds.
    case overloaded(retryAfter: Int)
    /// A handler threw. A refusal the surface knows gets its own status; what is answered 500 is
    /// reported to the fault hook.
    case thrown(any Error)

    /// The status the engine expects for it.
    public var status: Status {
        switch self {
        case .malformed(let error): return error.status
        case .notFound: return .notFound
        case .methodNotAllowed: return .methodNotAllowed
        case .bodyTooLarge: return .contentTooLarge
        case .timeout: return .requestTimeout
        case .overloaded: return .serviceUnavailable
        case .thrown: return .internalServerError
        }
    }
}

/// Which request a fault belongs to, as far as it was read.
public struct FaultContext: Sendable {
    let id: RequestID
    let head: RequestHead?

    init(id: RequestID, head: RequestHead?) {
        self.id = id
        self.head = head
    }

    /// Of a request of which nothing could be read.
    public init(id: RequestID) {
        self.init(id: id, head: nil)
    }

    public var requestID: String { id.description }
    public var method: Method? { head?.method }

    /// As it was sent, without the query; of a refused request line it may be any octets.
    public var path: String? { head?.path }

    /// `nil` where the head was refused: a part of the fields could say the opposite of the whole.
    public var headers: HeaderFields? {
        head.flatMap { $0.isWhole ? HeaderFields(head: $0) : nil }
    }
}

/// Renders a fault in a surface's error shape. Must not throw, block or wait.
public typealias FaultRenderer = @Sendable (Fault, FaultContext) -> Response
