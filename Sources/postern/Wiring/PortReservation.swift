internal import Glibc

/// A free TCP port that the kernel gives to nobody else while this lives.
///
/// The issuer of the tokens names the port, so with port 0 it must be known before the routes are
/// built, and they before the server listens. Both sockets have SO_REUSEADDR, so the server can
/// bind the port while it is reserved, as long as the reservation never listens.
final class PortReservation {
    let port: Int
    private let descriptor: Int32

    /// - Parameter host: an IPv4 or IPv6 address; anything else reserves on all addresses.
    /// - Returns: `nil` when there is no such address here or no port free.
    init?(host: String) {
        let isIPv4 = isAddress(host, family: AF_INET)
        let descriptor = socket(
            isIPv4 ? AF_INET : AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
            0)
        guard descriptor >= 0 else { return nil }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let port = isIPv4 ? Self.bindIPv4(descriptor, host) : Self.bindIPv6(descriptor, host)
        guard let port else {
            Glibc.close(descriptor)
            return nil
        }
        self.port = port
        self.descriptor = descriptor
    }

    deinit {
        Glibc.close(descriptor)
    }

    private static func bindIPv4(_ descriptor: Int32, _ host: String) -> Int? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, host, &address.sin_addr)
        return bound(descriptor, &address).map { Int(UInt16(bigEndian: $0.sin_port)) }
    }

    private static func bindIPv6(_ descriptor: Int32, _ host: String) -> Int? {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        inet_pton(AF_INET6, host, &address.sin6_addr)
        return bound(descriptor, &address).map { Int(UInt16(bigEndian: $0.sin6_port)) }
    }

    /// Binds, and reads back what the kernel made of port 0.
    private static func bound<Address>(_ descriptor: Int32, _ address: inout Address) -> Address? {
        var length = socklen_t(MemoryLayout<Address>.size)
        let result = withUnsafeMutableBytes(of: &address) { raw -> Int32 in
            guard let base = raw.baseAddress else { return -1 }
            let generic = base.assumingMemoryBound(to: sockaddr.self)
            guard bind(descriptor, generic, length) == 0 else { return -1 }
            return getsockname(descriptor, generic, &length)
        }
        return result == 0 ? address : nil
    }
}
