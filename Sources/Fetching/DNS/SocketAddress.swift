// All of them: whose copy of the system's socket types the compiler means depends on which module
// it has met first.
internal import CCurl
internal import CResolver
internal import Glibc

/// Where a nameserver listens, as the kernel takes it.
struct SocketAddress {
    private var storage = sockaddr_storage()

    /// - Returns: `nil` for a host that is no numeric address.
    init?(_ server: NameServer) {
        var v4 = sockaddr_in()
        var v6 = sockaddr_in6()
        if inet_pton(AF_INET, server.host, &v4.sin_addr) == 1 {
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = server.port.bigEndian
            withUnsafeBytes(of: v4) { copy($0) }
        } else if inet_pton(AF_INET6, server.host, &v6.sin6_addr) == 1 {
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = server.port.bigEndian
            withUnsafeBytes(of: v6) { copy($0) }
        } else {
            return nil
        }
    }

    private init(_ storage: sockaddr_storage) {
        self.storage = storage
    }

    /// The nameservers that the system is configured with, now.
    /// - Throws: ``DNSFault/noServer``.
    static func system() throws(DNSFault) -> [SocketAddress] {
        var found = [sockaddr_storage](repeating: sockaddr_storage(), count: 3)
        let count = Int(cresolver_servers(&found, Int32(found.count)))
        guard count > 0 else { throw .noServer }
        return found.prefix(count).map { SocketAddress($0) }
    }

    var family: Int32 { Int32(storage.ss_family) }

    func withSockaddr<T>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        let size =
            family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        return withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(size))
            }
        }
    }

    private mutating func copy(_ address: UnsafeRawBufferPointer) {
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: address) }
    }
}
