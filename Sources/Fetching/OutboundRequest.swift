/// One HTTP request to a server that the operator or the user of the command has named.
public struct OutboundRequest: Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    public var method: Method
    /// `http` or `https`, without user info.
    public var url: String
    /// Names and values; neither may hold a control character.
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// Begins the connection with a PROXY protocol header of version 1 with the own address.
    public var sendsProxyHeader = false
    /// A unix socket to connect to in place of the URL's host.
    public var socketPath: String?
    /// Whether the certificate of an `https` server must be trusted and for its host. False only
    /// for a server on this machine.
    public var verifiesServer = true
    /// PEM certificates to trust in place of the system's.
    public var certificateFile: String?
    /// For everything: resolving, connecting, TLS, sending and reading.
    public var timeout: Duration
    /// The longest body in bytes; a longer one is ``OutboundError/tooLarge``.
    public var bodyLimit: Int

    public init(
        _ method: Method = .get, _ url: String,
        headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration = .seconds(10), bodyLimit: Int = 65_536
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.bodyLimit = bodyLimit
    }
}

/// The response to an ``OutboundRequest``, whatever its status.
public struct FetchedResponse: Sendable {
    public let status: Int
    /// Header fields of the final response, in order, without white space around values.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    public init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field with this name, in any case.
    public func header(_ name: String) -> String? {
        headers.first { equalIgnoringCase($0.name, name) }?.value
    }
}

/// Why there is no response.
public enum OutboundError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The URL, a header name or a header value cannot be sent.
    case invalidRequest
    case unresolvable
    case unreachable
    case untrusted
    case timedOut
    case tooLarge
    /// Every lane is busy and the queue is full.
    case busy
    /// The response is not HTTP, or incomplete; with libcurl's error code.
    case failed(code: Int)

    public var description: String {
        switch self {
        case .invalidRequest: "the URL or a header cannot be used"
        case .unresolvable: "the host name cannot be resolved"
        case .unreachable: "the server cannot be reached"
        case .untrusted: "TLS failed or the server's certificate is not trusted"
        case .timedOut: "the server did not answer in time"
        case .tooLarge: "the response is too large"
        case .busy: "too many requests are in progress"
        case .failed(let code): "\(curlText(code)) (curl \(code))"
        }
    }
}
