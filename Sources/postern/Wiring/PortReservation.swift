internal import Glibc
internal import Networking

/// A free TCP port that the kernel assigns to no other socket while this object exists.
///
/// The default public URL contains the port. With port 0 it must therefore be known before the
/// routes are built, and the routes are built before the server listens. Both sockets have
/// SO_REUSEADDR, so the server can bind the reserved port, because the reservation never listens.
final class PortReservation {
    let port: UInt16
    private let descriptor: Int32

    /// - Parameter host: an IPv4 or IPv6 address; any other text stands for all addresses.
    /// - Returns: `nil` when the address is not one of this machine, or no port is free.
    init?(host: String) {
        let address = SocketAddress(IPAddress(host) ?? IPAddress(v6: 0, 0), port: 0)
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, type, 0)
        guard descriptor >= 0 else { return nil }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard address.bind(descriptor) == 0, let bound = SocketAddress(boundTo: descriptor) else {
            Glibc.close(descriptor)
            return nil
        }
        port = bound.port
        self.descriptor = descriptor
    }

    deinit {
        Glibc.close(descriptor)
    }
}
