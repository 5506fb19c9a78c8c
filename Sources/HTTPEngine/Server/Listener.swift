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
