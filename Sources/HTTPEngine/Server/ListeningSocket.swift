internal import CSocket
internal import Glibc
internal import Networking

/// A listening socket, and the listener that it was opened for. Closed by its ``Acceptor``.
final class ListeningSocket: Sendable {
    let descriptor: Int32
    /// With port 0 resolved, and `*` as the wildcard address that was bound.
    let address: ListenAddress
    let listener: Listener
    /// The file of a unix socket, which is removed when the socket is closed.
    private let file: UnixSocket?

    /// Opens a socket at the listener's address.
    /// - Parameter backlog: connections that the kernel queues before they are accepted.
    init(_ listener: Listener, backlog: Int32) throws(SocketError) {
        self.listener = listener
        switch listener.address {
        case .unix(let file):
            let socket = try UnixSocket(file, backlog: backlog)
            (descriptor, address, self.file) = (socket.descriptor, listener.address, socket)
        case .tcp("*", let port):
            file = nil
            (descriptor, address) = try ListeningSocket.openWildcard(port: port, backlog)
        case .tcp(let host, let port):
            file = nil
            guard let address = IPAddress(host) else {
                throw SocketError(call: "reading the listen address \(host)", code: EINVAL)
            }
            (descriptor, self.address) = try ListeningSocket.open(
                SocketAddress(address, port: port), backlog)
        }
    }

    func close() {
        file?.remove()
        Glibc.close(descriptor)
    }

    /// The address of a client that has none: whoever connects to a unix socket is on this machine.
    var peerWithoutAddress: SocketAddress? {
        file == nil ? nil : SocketAddress(.loopback, port: 0)
    }

    /// Opens a dual-stack socket, or one for IPv4 where the kernel has no IPv6.
    private static func openWildcard(
        port: UInt16, _ backlog: Int32
    ) throws(SocketError) -> (Int32, ListenAddress) {
        do throws(SocketError) {
            return try open(SocketAddress(IPAddress(v6: 0, 0), port: port), backlog)
        } catch {
            guard error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
            return try open(SocketAddress(IPAddress(v4: 0), port: port), backlog)
        }
    }

    private static func open(
        _ address: SocketAddress, _ backlog: Int32
    ) throws(SocketError) -> (Int32, ListenAddress) {
        let descriptor = csocket_open(address.family)
        guard descriptor >= 0 else { throw SocketError(call: "socket", code: errno) }
        do throws(SocketError) {
            try set(descriptor, SOL_SOCKET, SO_REUSEADDR, to: 1)
            // Inherited by every accepted connection.
            try set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, to: 1)
            // Inherited, too. Without this bound the kernel buffers megabytes for each client that
            // does not read.
            try set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, to: 131_072)
            if !address.address.isIPv4 {
                try set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 0)
            }
            guard address.bind(descriptor) == 0 else {
                throw SocketError(call: "binding \(address)", code: errno)
            }
            guard Glibc.listen(descriptor, backlog) == 0 else {
                throw SocketError(call: "listen", code: errno)
            }
            guard let bound = SocketAddress(boundTo: descriptor) else {
                throw SocketError(call: "getsockname", code: errno)
            }
            return (descriptor, .tcp(host: "\(bound.address)", port: bound.port))
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
}
