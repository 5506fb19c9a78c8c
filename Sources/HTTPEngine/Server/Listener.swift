/// Where a listener accepts connections.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// `host` is an IPv4 or IPv6 address, or `*` for every address of both families on one
    /// dual-stack socket. Names are not resolved. Port 0 lets the kernel choose;
    /// ``Server/start()`` returns the port.
    case tcp(host: String, port: UInt16)

    public var port: UInt16 {
        switch self {
        case .tcp(_, let port): port
        }
    }

    /// As in a URL: an IPv6 address is in brackets.
    public var description: String {
        switch self {
        case .tcp(let host, let port):
            host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    func withPort(_ port: UInt16) -> ListenAddress {
        switch self {
        case .tcp(let host, _): .tcp(host: host, port: port)
        }
    }
}

/// Whether connections begin with a PROXY protocol header, of version 1 or 2.
public enum ProxyProtocol: String, CaseIterable, Sendable {
    case off
    /// Every connection does. One whose peer is not a trusted proxy, or without a valid header, is
    /// closed without a response.
    case required
}

/// The reverse proxies whose word about the client's address is taken.
public struct TrustedProxies: Sendable {
    /// Their addresses. Empty means that the client is always the peer of the connection.
    public var addresses: [AddressBlock] = []
    /// The header field in which they name the client of a request. It does not change whose the
    /// connection is.
    public var forwardedHeader = ForwardedHeader.xForwardedFor
    /// Whether they name the client of a connection before its first request.
    public var proxyProtocol = ProxyProtocol.off

    public init() {}
}

/// One address that a server listens on, and the routes that it serves there.
public struct Listener: Sendable {
    public let address: ListenAddress
    public let router: Router
    public let proxies: TrustedProxies

    public init(
        address: ListenAddress, router: Router, proxies: TrustedProxies = TrustedProxies()
    ) {
        self.address = address
        self.router = router
        self.proxies = proxies
    }
}
