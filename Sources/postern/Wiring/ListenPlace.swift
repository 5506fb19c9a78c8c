internal import Configuration
internal import Glibc
internal import HTTPEngine

/// An address that the server will listen on, and its socket once that is bound.
struct ListenPlace {
    /// What is served there.
    enum Service: Hashable, Sendable {
        case http(ListenerSettings.Kind)
        case socketmap
        case smtp

        /// The name in the log, and of the socket of a service manager.
        var name: String {
            switch self {
            case .http(let service): service.rawValue
            case .socketmap: "socketmap"
            case .smtp: "smtp"
            }
        }

        init?(name: String) {
            if let service = ListenerSettings.Kind(rawValue: name) {
                self = .http(service)
            } else if name == Service.socketmap.name {
                self = .socketmap
            } else {
                return nil
            }
        }
    }

    let service: Service
    private(set) var address: ListenAddress
    private(set) var usesTLS = false
    private(set) var proxyProtocol = ProxyProtocol.off
    private var socket: BoundSocket?

    private init(_ service: Service, _ address: ListenAddress) {
        self.service = service
        self.address = address
    }

    private init(_ listener: ListenerSettings, _ services: ServicesSection) throws {
        let address: ListenAddress =
            switch listener.address {
            case .tcp(let host, let port): .tcp(host: host, port: port)
            case .unix(let path):
                try ServicesListener.listenAddress(.unix(path: path), services)
            }
        self.init(.http(listener.serves), address)
        usesTLS = listener.usesTLS
        proxyProtocol = listener.proxyProtocol
    }

    /// The listeners, a public one first.
    /// - Parameter inherited: sockets that replace the addresses in the configuration.
    /// - Throws: ``ServicesListenerError``, ``InheritedSocketCountError``.
    static func all(
        _ config: Config, _ inherited: InheritedSockets = InheritedSockets()
    ) throws -> [ListenPlace] {
        let services = config.services
        let others = [
            (Service.http(.services), services.listen), (.socketmap, services.socketmap),
        ]
        let configured =
            try config.listeners.map { try ListenPlace($0, services) }
            + (try others.compactMap { service, address in
                try address.map {
                    ListenPlace(service, try ServicesListener.listenAddress($0, services))
                }
            })
        return try inherited.replacingAddresses(of: configured) + smtp(config)
    }

    /// The listener of local mail, which has no inherited socket: it is not for production.
    private static func smtp(_ config: Config) throws -> [ListenPlace] {
        guard config.mail.store == .local, let address = config.mail.localSMTP else { return [] }
        return [
            ListenPlace(.smtp, try ServicesListener.listenAddress(address, config.services))
        ]
    }

    /// The same listener on a socket that is bound already.
    func on(_ socket: BoundSocket) -> ListenPlace {
        var place = self
        place.address = socket.address
        place.socket = socket
        return place
    }

    /// - Throws: `SocketError` when the address is in use, or cannot be used.
    mutating func bind() throws -> BoundSocket {
        if let socket { return socket }
        let bound = try BoundSocket(address)
        socket = bound
        return bound
    }

    /// The TLS of the listener; nil for connections that are not encrypted.
    func tls(of certificates: Certificates?) -> ListenerTLS? {
        guard usesTLS, case .http(let served) = service else { return nil }
        return certificates?.tls(for: served)
    }

    /// Whether it is a unix socket in `directory`, which does not exist yet.
    func isInNewDirectory(_ directory: String) -> Bool {
        guard socket == nil, case .unix(let file) = address else { return false }
        return file.path.hasPrefix("\(directory)/") && access(directory, F_OK) != 0
    }
}
