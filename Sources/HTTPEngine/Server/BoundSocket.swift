internal import CSocket
internal import Glibc
internal import Networking
internal import Synchronization

/// A socket that has its address but does not listen yet, so that connecting to it is refused. Or a
/// socket on which a service manager already listens.
///
/// A program that binds first knows its port, and has changed nothing if the address is in use.
/// Closed with this object at the latest.
public final class BoundSocket: Sendable {
    /// With port 0 resolved, and `*` as the wildcard address that was bound.
    public let address: ListenAddress
    let descriptor: Int32
    /// Whether other processes have the socket, too.
    let isInherited: Bool
    /// The file of a unix socket, which is removed when the socket is closed.
    private let file: UnixSocket?
    private let isClosed = Mutex(false)

    /// - Throws: ``SocketError``.
    public init(_ wanted: ListenAddress) throws(SocketError) {
        isInherited = false
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

    /// Takes over a socket on which another process listens. It stays open there: connections that
    /// wait when this object is closed are accepted by the process that gets the socket next.
    public init(inherited descriptor: Int32) throws(InheritedSocketError) {
        guard Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue) else {
            throw .noStream
        }
        guard Self.option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw .notListening }
        if let bound = SocketAddress(boundTo: descriptor) {
            address = .tcp(host: "\(bound.address)", port: bound.port)
        } else if let path = Self.path(of: descriptor) {
            address = .unix(SocketFile(path: path))
        } else {
            throw .noAddress
        }
        let flags = fcntl(descriptor, F_GETFL)
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0
        else { throw .unusable(code: errno) }
        if case .tcp = address {
            do throws(SocketError) {
                try Self.setConnectionOptions(descriptor)
            } catch {
                throw .unusable(code: error.code)
            }
        }
        self.descriptor = descriptor
        isInherited = true
        file = nil
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
        guard !isInherited else { return }
        // Another process that starts at the same time could consider the file of a socket that
        // does not listen yet as abandoned.
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
            try setConnectionOptions(descriptor)
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

    /// Accepted connections inherit them.
    private static func setConnectionOptions(_ descriptor: Int32) throws(SocketError) {
        try set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, to: 1)
        // Without this bound the kernel buffers megabytes for each client that does not read.
        try set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, to: 131_072)
    }

    /// nil when the descriptor is not a socket.
    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 else { return nil }
        return value
    }

    /// nil for a socket without a file.
    private static func path(of descriptor: Int32) -> String? {
        var path = [CChar](repeating: 0, count: SocketFile.maxPathBytes + 1)
        let count = csocket_bound_path(descriptor, &path)
        guard count > 0 else { return nil }
        return String(
            validating: path[..<Int(count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
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

/// Why a descriptor cannot be listened on. Its text completes a sentence that begins with the
/// descriptor.
public enum InheritedSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    case noStream
    case notListening
    /// Neither an IP address nor the path of a file.
    case noAddress
    /// By the errno.
    case unusable(code: Int32)

    public var description: String {
        switch self {
        case .noStream: "is not a stream socket"
        case .notListening: "does not listen"
        case .noAddress: "has neither an IP address nor a path"
        case .unusable(let code): "cannot be used: \(String(cString: strerror(code)))"
        }
    }
}
