internal import AuthAPI
internal import Configuration
internal import Cryptography
internal import Glibc
internal import HTTPEngine
internal import Networking
internal import Platform

/// The listeners for mail stores, mail servers and proxies.
enum ServicesListener {
    /// The handler of the listener for mail stores and proxies.
    static func service(_ router: Router, _ config: Config) -> HTTPService {
        // A service on this machine counts as a trusted proxy: it names the end user's address.
        var proxies = TrustedProxies()
        proxies.forwardedHeader = config.server.proxies.forwardedHeader
        proxies.addresses =
            config.server.proxies.addresses + ["127.0.0.0/8", "::1"].compactMap { IPBlock($0) }
        return HTTPService(router: router, proxies: proxies, sharesLimits: false)
    }

    /// Where to listen for `address`, with the mode and the owner of a unix socket.
    static func listenAddress(
        _ address: ServicesAddress, _ services: ServicesSection
    ) throws(ServicesListenerError) -> ListenAddress {
        switch address {
        case .tcp(let address): return .tcp(host: "\(address.address)", port: address.port)
        case .unix(let path):
            return .unix(
                SocketFile(
                    path: path, mode: services.socketMode,
                    owner: try services.socketOwner?.userNumber,
                    group: try services.socketOwner?.groupNumber))
        }
    }
}

extension ServicesAPI.Settings {
    /// Reads the secret, if there is one.
    /// - Parameter isServed: whether there is a listener for which it is needed.
    init(_ services: ServicesSection, isServed: Bool) throws(ServicesListenerError) {
        self.init(
            secret: try isServed ? services.secretFile.map(Self.secret) : nil,
            issuesStoreTokens: services.storeToken == .minimal,
            mailServers: Dictionary(
                services.mailBackends.map { ($0.mailProtocol, $0.address) },
                uniquingKeysWith: { first, _ in first }))
    }

    private static func secret(at path: String) throws(ServicesListenerError) -> SecretBytes {
        var content: [UInt8]
        do throws(SecretFileError) {
            content = try SecretFile.content(at: path)
        } catch {
            throw .secret(path: path, "\(error)")
        }
        defer { content.wipe() }
        while let last = content.last, last == 0x0a || last == 0x0d { content.removeLast() }
        guard (16...1024).contains(content.count),
            content.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw .secret(path: path, "must be 16 to 1,024 visible ASCII characters on one line")
        }
        return SecretBytes(content)
    }
}

extension FileOwner {
    fileprivate var userNumber: UInt32? {
        get throws(ServicesListenerError) {
            guard let user else { return nil }
            if let number = UInt32(user) { return number }
            guard let entry = getpwnam(user) else { throw .unknown("user", user) }
            return entry.pointee.pw_uid
        }
    }

    fileprivate var groupNumber: UInt32? {
        get throws(ServicesListenerError) {
            guard let group else { return nil }
            if let number = UInt32(group) { return number }
            guard let entry = getgrnam(group) else { throw .unknown("group", group) }
            return entry.pointee.gr_gid
        }
    }
}

/// Why there cannot be a listener for mail stores and proxies.
enum ServicesListenerError: Error, Equatable, CustomStringConvertible {
    case secret(path: String, String)
    /// A user or a group that this machine does not know.
    case unknown(String, String)

    var description: String {
        switch self {
        case .secret(let path, let problem): "services.secret_file: \(path) \(problem)"
        case .unknown(let kind, let name):
            "services.socket_owner: this machine has no \(kind) \(name)"
        }
    }
}
