internal import CSocket
internal import Glibc
internal import Networking
internal import Synchronization

/// A socket that has its address and does not listen yet, so that connecting to it is refused.
///
/// A program that binds before it does anything else knows its port, and changes nothing when the
/// address is in use. Closed with this object at the latest.
public final class BoundSocket: Sendable {
    /// With port 0 resolved, and `*` as the wildcard address that was bound.
    public let address: ListenAddress
    let descriptor: Int32
    /// The file of a unix socket, which is removed when the socket is closed.
    private let file: UnixSocket?
    private let isClosed = Mutex(false)

    /// - Throws: ``SocketError``.
    public init(_ wanted: ListenAddress) throws(SocketError) {
        switch wanted {
        case .unix(let file):
            let socket = try UnixSocket(file)
            (descriptor, address, self.file) = (socket.descriptor, wanted, socket)
        case .tcp("*", let port):
            file = nil
            (descriptor, address) = try BoundSocket.openWildcard(port: port)
        case .tcp(let host, let port):
            file = nil
            guard let address = IPAddress(host) else {
                throw SocketError(call: "reading the listen address \(host)", code: EINVAL)
            }
            (descriptor, self.address) = try BoundSocket.open(SocketAddress(address, port: port))
        }
    }

    deinit { close() }

    public func close() {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        guard !wasClosed else { return }
        file?.remove()
        Glibc.close(descriptor)
    }

    /// - Parameter backlog: connections that the kernel queues before they are accepted.
    func listen(_ backlog: Int32) throws(SocketError) {
        // Another process that starts at the same time takes the file of a socket that does not
        // listen yet for abandoned.
        if let file, !file.isPresent {
            throw SocketError(call: "binding \(address)", code: EADDRINUSE)
        }
        guard Glibc.listen(descriptor, backlog) == 0 else {
            throw SocketError(call: "listening on \(address)", code: errno)
        }
    }

    /// Opens a dual-stack socket, or one for IPv4 where the kernel has no IPv6.
    private static func openWildcard(port: UInt16) throws(SocketError) -> (Int32, ListenAddress) {
        do throws(SocketError) {
            return try open(SocketAddress(IPAddress(v6: 0, 0), port: port))
        } catch {
            guard error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
            return try open(SocketAddress(IPAddress(v4: 0), port: port))
        }
    }

    private static func open(
        _ address: SocketAddress
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
