/// An error that the engine answers itself. The route group renders it in its API's error format.
public enum HTTPError: Error, Sendable {
    /// Not a valid HTTP/1.1 request. `error.status` is 400, 414, 417, 431, 501 or 505.
    case malformed(ParseError)
    /// 404.
    case notFound
    /// 405; the engine adds `Allow`.
    case methodNotAllowed(allowed: [Method])
    /// 413. `limit` in bytes.
    case bodyTooLarge(limit: Int)
    /// 408: the head or the body did not arrive before its deadline.
    case timeout
    /// 503; the engine adds `Retry-After` with this number of seconds.
    case overloaded(retryAfter: Int)
    /// 500: a handler threw, or its response was not valid. The cause goes to the error hook, once,
    /// and never into the response.
    case internalError

    public var status: Status {
        switch self {
        case .malformed(let error): return error.status
        case .notFound: return .notFound
        case .methodNotAllowed: return .methodNotAllowed
        case .bodyTooLarge: return .contentTooLarge
        case .timeout: return .requestTimeout
        case .overloaded: return .serviceUnavailable
        case .internalError: return .internalServerError
        }
    }
}

/// A fault of the server for which the handler has its own response instead of a 500. It is
/// reported to the error hook like any other fault.
public struct AnsweredFault: Error {
    public let cause: any Error
    public let response: Response

    public init(cause: any Error, response: Response) {
        self.cause = cause
        self.response = response
    }
}

/// The request that an ``HTTPError`` belongs to, as far as it was read.
public struct ErrorContext: Sendable {
    let id: RequestID
    let head: RequestHead?

    init(id: RequestID, head: RequestHead?) {
        self.id = id
        self.head = head
    }

    /// The context of a request of which nothing could be read.
    public init(id: RequestID) {
        self.init(id: id, head: nil)
    }

    public var requestID: String { id.description }
    public var method: Method? { head?.method }

    /// The path as it was sent, without the query. In a malformed request line it may hold any
    /// bytes.
    public var path: String? { head?.path }

    /// `nil` if the head was malformed: a part of the fields could have another meaning than all of
    /// them.
    public var headers: HeaderFields? {
        head.flatMap { $0.isWhole ? HeaderFields(head: $0) : nil }
    }
}

/// Renders an error in the format of one API. Must not throw, block or wait. The engine sets the
/// status of the response to `error.status`.
public typealias ErrorRenderer = @Sendable (HTTPError, ErrorContext) -> Response
