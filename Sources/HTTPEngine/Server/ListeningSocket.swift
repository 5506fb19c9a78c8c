internal import CSocket
internal import Glibc

extension PeerAddress {
    /// What accept(2) gave.
    init(_ storage: sockaddr_storage) {
        self = withUnsafeBytes(of: storage) { bytes in
            if Int32(storage.ss_family) == AF_INET6 {
                let address = bytes.load(as: sockaddr_in6.self)
                let (high, low) = withUnsafeBytes(of: address.sin6_addr) {
                    ($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self))
                }
                return PeerAddress(
                    v6: UInt64(bigEndian: high), UInt64(bigEndian: low),
                    port: UInt16(bigEndian: address.sin6_port))
            }
            let address = bytes.load(as: sockaddr_in.self)
            return PeerAddress(
                v4: UInt32(bigEndian: address.sin_addr.s_addr),
                port: UInt16(bigEndian: address.sin_port))
        }
    }
}

/// A listening TCP socket, and the listener that it was opened for. Closed by its ``Acceptor``.
final class ListeningSocket: Sendable {
    let descriptor: Int32
    /// With port 0 resolved, and `*` as the wildcard address that was bound.
    let address: ListenAddress
    let listener: Listener

    /// Opens a socket at the listener's address.
    /// - Parameter backlog: connections that the kernel queues before they are accepted.
    init(_ listener: Listener, backlog: Int32) throws(SocketError) {
        self.listener = listener
        switch listener.address {
        case .tcp(let host, let port):
            (descriptor, address) = try ListeningSocket.open(
                host: host, port: port, backlog: backlog)
        }
    }

    func close() { Glibc.close(descriptor) }

    private static func open(
        host: String, port: UInt16, backlog: Int32
    ) throws(SocketError) -> (Int32, ListenAddress) {
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_port = port.bigEndian
        if inet_pton(AF_INET, host, &v4.sin_addr) == 1 {
            return try open(v4, family: AF_INET, .tcp(host: host, port: port), backlog)
        }
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_port = port.bigEndian
        let isWildcard = host == "*"
        let name = isWildcard ? "::" : host
        guard inet_pton(AF_INET6, name, &v6.sin6_addr) == 1 else {
            throw SocketError(call: "reading the listen address \(host)", code: EINVAL)
        }
        do throws(SocketError) {
            return try open(v6, family: AF_INET6, .tcp(host: name, port: port), backlog)
        } catch {
            // A kernel without IPv6 still has every IPv4 address.
            guard isWildcard, error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else {
                throw error
            }
            return try open(v4, family: AF_INET, .tcp(host: "0.0.0.0", port: port), backlog)
        }
    }

    private static func open<Address>(
        _ address: Address, family: Int32, _ name: ListenAddress, _ backlog: Int32
    ) throws(SocketError) -> (Int32, ListenAddress) {
        let descriptor = csocket_open(family)
        guard descriptor >= 0 else { throw SocketError(call: "socket", code: errno) }
        do throws(SocketError) {
            try set(descriptor, SOL_SOCKET, SO_REUSEADDR, to: 1)
            // Inherited by every accepted connection.
            try set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, to: 1)
            // Inherited, too. Without this bound the kernel buffers megabytes for each client that
            // does not read.
            try set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, to: 131_072)
            if family == AF_INET6 { try set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 0) }
            try bind(descriptor, to: address, named: "\(name)")
            guard Glibc.listen(descriptor, backlog) == 0 else {
                throw SocketError(call: "listen", code: errno)
            }
            return (descriptor, name.withPort(try boundPort(descriptor)))
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private static func set(
        _ descriptor: Int32, _ level: Int32, _ name: Int32, to value: Int32
    ) throws(SocketError) {
        var value = value
        let length = socklen_t(MemoryLayout<Int32>.size)
        guard setsockopt(descriptor, level, name, &value, length) == 0 else {
            throw SocketError(call: "setsockopt", code: errno)
        }
    }

    private static func bind<Address>(
        _ descriptor: Int32, to address: Address, named name: String
    ) throws(SocketError) {
        var address = address
        let length = socklen_t(MemoryLayout<Address>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, length)
            }
        }
        guard result == 0 else { throw SocketError(call: "binding \(name)", code: errno) }
    }

    private static func boundPort(_ descriptor: Int32) throws(SocketError) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        guard result == 0 else { throw SocketError(call: "getsockname", code: errno) }
        return PeerAddress(storage).port
    }
}
