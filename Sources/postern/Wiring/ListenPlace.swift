internal import Glibc
internal import HTTPEngine

/// An address that the server will listen on, and its socket once that is bound.
struct ListenPlace {
    /// As in the log.
    enum Name: String {
        case `public`, services, socketmap
    }

    let name: Name
    let address: ListenAddress
    private var socket: BoundSocket?

    private init(_ name: Name, _ address: ListenAddress) {
        self.name = name
        self.address = address
    }

    private init(_ name: Name, _ socket: BoundSocket) {
        self.name = name
        address = socket.address
        self.socket = socket
    }

    /// The public ones first, of which there is at least one.
    /// - Parameter inherited: take the place of the addresses in the configuration.
    /// - Throws: ``ServicesListenerError``.
    static func all(
        _ config: Config, _ inherited: InheritedSockets = InheritedSockets()
    ) throws -> [ListenPlace] {
        let services = config.services
        let configured: [(Name, ListenAddress?)] = [
            (.public, .tcp(host: config.server.host, port: config.server.port)),
            (
                .services,
                try services.listen.map { try ServicesListener.listenAddress($0, services) }
            ),
            (
                .socketmap,
                try services.socketmap.map { try ServicesListener.listenAddress($0, services) }
            ),
        ]
        return configured.flatMap { name, address in
            let sockets = inherited.sockets(for: name)
            guard sockets.isEmpty else { return sockets.map { ListenPlace(name, $0) } }
            return address.map { [ListenPlace(name, $0)] } ?? []
        }
    }

    /// - Throws: `SocketError` when the address is in use, or cannot be used.
    mutating func bind() throws -> BoundSocket {
        if let socket { return socket }
        let bound = try BoundSocket(address)
        socket = bound
        return bound
    }

    /// Whether it is a unix socket in `directory`, which does not exist yet.
    func isInNewDirectory(_ directory: String) -> Bool {
        guard socket == nil, case .unix(let file) = address else { return false }
        return file.path.hasPrefix("\(directory)/") && access(directory, F_OK) != 0
    }
}
