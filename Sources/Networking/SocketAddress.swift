internal import Glibc

/// An IP address and a port, and its conversion from and to the structures of the kernel's socket
/// calls.
public struct SocketAddress: Hashable, Sendable {
    public let address: IPAddress
    public let port: UInt16

    public init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Reads `192.0.2.1:53` or `[2001:db8::1]:53`; with a default port also `192.0.2.1`,
    /// `[2001:db8::1]` and `2001:db8::1`.
    ///
    /// - Returns: `nil` for anything else, also for port 0.
    public init?(_ text: String, defaultPort: UInt16? = nil) {
        let bytes = text.utf8
        let colon = UInt8(ascii: ":")
        let host: Substring.UTF8View
        let rest: Substring.UTF8View
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = bytes[..<end].dropFirst()
            rest = bytes[end...].dropFirst()
            guard host.contains(colon) else { return nil }
        } else if bytes.count(where: { $0 == colon }) == 1, let end = bytes.firstIndex(of: colon) {
            (host, rest) = (bytes[..<end], bytes[end...])
        } else {
            (host, rest) = (bytes[...], bytes[bytes.endIndex...])
        }
        let port = rest.isEmpty ? defaultPort : Self.port(rest)
        guard let port, let address = IPAddress(utf8: host) else { return nil }
        self.init(address, port: port)
    }

    /// Reads what accept(2), getaddrinfo(3) and libraries write: a `sockaddr_in` or `sockaddr_in6`
    /// at the start of `bytes`. The scope of a link-local address is not kept.
    ///
    /// - Returns: `nil` for another family, and where there are too few bytes.
    public init?(sockaddr bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
            let v4 = bytes.loadUnaligned(as: sockaddr_in.self)
            self.init(
                IPAddress(v4: UInt32(bigEndian: v4.sin_addr.s_addr)),
                port: UInt16(bigEndian: v4.sin_port))
        case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
            let v6 = bytes.loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = withUnsafeBytes(of: v6.sin6_addr) {
                ($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self))
            }
            self.init(
                IPAddress(v6: UInt64(bigEndian: high), UInt64(bigEndian: low)),
                port: UInt16(bigEndian: v6.sin6_port))
        default:
            return nil
        }
    }

    /// The address of a bound socket (getsockname(2)). For port 0 it has the port that the kernel
    /// chose.
    /// - Returns: `nil` when the descriptor is not a socket of IPv4 or IPv6.
    public init?(boundTo descriptor: Int32) {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &size)
            }
        }
        guard result == 0 else { return nil }
        guard let address = withUnsafeBytes(of: storage, SocketAddress.init(sockaddr:)) else {
            return nil
        }
        self = address
    }

    /// `AF_INET` or `AF_INET6`, for socket(2).
    public var family: Int32 { address.isIPv4 ? AF_INET : AF_INET6 }

    /// - Returns: what bind(2) does: 0, or -1 with the cause in `errno`.
    public func bind(_ descriptor: Int32) -> Int32 {
        withSockaddr { Glibc.bind(descriptor, $0, $1) }
    }

    /// - Returns: what connect(2) does: 0, or -1 with the cause in `errno`.
    public func connect(_ descriptor: Int32) -> Int32 {
        withSockaddr { Glibc.connect(descriptor, $0, $1) }
    }

    private func withSockaddr<T>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        func generic<Address>(_ address: Address) -> T {
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<Address>.size))
                }
            }
        }
        if address.isIPv4 {
            var v4 = sockaddr_in()
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
            v4.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.low).bigEndian
            return generic(v4)
        }
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &v6.sin6_addr) {
            $0.storeBytes(of: address.high.bigEndian, as: UInt64.self)
            $0.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return generic(v6)
    }

    /// - Parameter text: a colon and at most five digits.
    private static func port(_ text: Substring.UTF8View) -> UInt16? {
        let digits = text.dropFirst()
        guard text.first == UInt8(ascii: ":"), (1...5).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = UInt16(String(Substring(digits))), port > 0
        else { return nil }
        return port
    }
}

extension SocketAddress: CustomStringConvertible {
    /// `192.0.2.1:80` or `[2001:db8::1]:80`.
    public var description: String {
        address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}
