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

    /// The public one first.
    /// - Throws: ``ServicesListenerError``.
    static func all(_ config: Config) throws -> [ListenPlace] {
        let services = config.services
        let others = [(Name.services, services.listen), (.socketmap, services.socketmap)]
        return [ListenPlace(.public, .tcp(host: config.server.host, port: config.server.port))]
            + (try others.compactMap { name, address in
                try address.map {
                    ListenPlace(name, try ServicesListener.listenAddress($0, services))
                }
            })
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
        guard case .unix(let file) = address else { return false }
        return file.path.hasPrefix("\(directory)/") && access(directory, F_OK) != 0
    }
}
