/// One request to somebody else's server.
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
    /// Begins the connection with a PROXY protocol header of version 1, naming this side of it.
    public var sendsProxyHeader = false
    /// For all of it: resolving, connecting, TLS, sending and reading.
    public var timeout: Duration
    /// Octets of body that are taken; more is ``FetchFault/tooLarge``.
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

/// What came back, whatever its status.
public struct FetchedResponse: Sendable {
    public let status: Int
    /// Header fields of the final answer, in order, white space trimmed.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    public init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field of this name, without regard to case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Why there is no answer.
public enum FetchFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The URL, a header name or a header value cannot be sent.
    case invalidRequest
    case unresolvable
    case unreachable
    case untrusted
    case timedOut
    case tooLarge
    /// Every lane is taken and too many are waiting.
    case busy
    /// The answer is not HTTP, or broke off; with libcurl's number and words.
    case failed(code: Int, text: String)

    public var description: String {
        switch self {
        case .invalidRequest: "the URL or a header cannot be used"
        case .unresolvable: "the host name cannot be resolved"
        case .unreachable: "the server cannot be reached"
        case .untrusted: "TLS failed or the server's certificate is not trusted"
        case .timedOut: "the server took too long"
        case .tooLarge: "the answer is too large"
        case .busy: "too many requests are under way"
        case .failed(let code, let text): "\(text) (curl \(code))"
        }
    }
}
