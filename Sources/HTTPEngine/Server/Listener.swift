/// Where a listener accepts connections.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// `host` is an IPv4 or IPv6 address, or `*` for every address of both families on one
    /// dual-stack socket. Names are not resolved. Port 0 lets the kernel choose;
    /// ``Server/start()`` returns the port.
    case tcp(host: String, port: UInt16)
    /// A unix socket. Its clients have no network address: they count as `127.0.0.1`.
    case unix(SocketFile)

    /// 0 for a unix socket.
    public var port: UInt16 {
        switch self {
        case .tcp(_, let port): port
        case .unix: 0
        }
    }

    /// As in a URL: an IPv6 address is in brackets. `unix:` and the path for a unix socket.
    public var description: String {
        switch self {
        case .tcp(let host, let port):
            host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let file): "unix:\(file.path)"
        }
    }
}

/// The file of a unix socket. Every user who may write to the file may connect.
public struct SocketFile: Hashable, Sendable {
    /// What `sockaddr_un` has room for.
    public static let maxPathBytes = 107

    public let path: String
    public let mode: UInt32
    /// The owner and the group of the file; nil for those of the process.
    public let owner: UInt32?
    public let group: UInt32?

    public init(path: String, mode: UInt32 = 0o600, owner: UInt32? = nil, group: UInt32? = nil) {
        self.path = path
        self.mode = mode
        self.owner = owner
        self.group = group
    }
}

/// One address that a server listens on, and its service.
public struct Listener: Sendable {
    public enum Service: Sendable {
        case http(HTTPService)
        /// Another protocol than HTTP.
        case session(SessionService)

        /// The same service, with its routes counted in the rows of `templates`, to which it adds
        /// its own.
        func counted(in templates: inout [String]) -> Service {
            guard case .http(var service) = self else { return self }
            service.router = service.router.counted(in: &templates)
            return .http(service)
        }
    }

    public let address: ListenAddress
    public private(set) var service: Service
    /// nil for connections that are not encrypted. Sessions of other protocols never are.
    public let tls: ListenerTLS?
    /// A socket that was bound before the service was known; nil to bind one at the start.
    let socket: BoundSocket?

    public init(address: ListenAddress, service: Service, tls: ListenerTLS? = nil) {
        self.address = address
        self.service = service
        self.tls = tls
        socket = nil
    }

    /// - Parameter socket: used by one server, which closes it.
    public init(socket: BoundSocket, service: Service, tls: ListenerTLS? = nil) {
        address = socket.address
        self.service = service
        self.tls = tls
        self.socket = socket
    }

    public init(
        address: ListenAddress, router: Router, proxies: TrustedProxies = TrustedProxies(),
        sharesLimits: Bool = true, tls: ListenerTLS? = nil
    ) {
        let service = HTTPService(
            router: router, proxies: proxies, sharesLimits: sharesLimits)
        self.init(address: address, service: .http(service), tls: tls)
    }

    /// The same listener, with its routes counted in the rows of `templates`, to which it adds its
    /// own.
    func counted(in templates: inout [String]) -> Listener {
        var listener = self
        listener.service = service.counted(in: &templates)
        return listener
    }
}
