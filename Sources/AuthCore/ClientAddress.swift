/// The network address a request came from: 4 bytes of IPv4 or 16 of IPv6.
///
/// An IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) is the IPv4 address it maps, so that a
/// dual-stack listener does not give a client two identities.
public struct ClientAddress: Hashable, Sendable, CustomStringConvertible {
    public let bytes: [UInt8]

    /// - Parameter bytes: exactly 4 or 16.
    public init(bytes: [UInt8]) {
        precondition(bytes.count == 4 || bytes.count == 16)
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        self.bytes = bytes.count == 16 && bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    }

    /// What one subscriber holds: an IPv4 address, an IPv6 /64.
    public var subscriber: ClientNetwork { network(ipv4Bits: 32, ipv6Bits: 64) }

    /// What one site holds: an IPv4 /24, an IPv6 /48.
    public var site: ClientNetwork { network(ipv4Bits: 24, ipv6Bits: 48) }

    /// What one provider holds at least: an IPv4 /16, an IPv6 /32.
    public var region: ClientNetwork { network(ipv4Bits: 16, ipv6Bits: 32) }

    /// Dotted decimal, or the eight groups of an IPv6 address in hex, uncompressed.
    public var description: String {
        guard bytes.count == 16 else { return bytes.map { String($0) }.joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2).map { index in
            String(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]), radix: 16)
        }.joined(separator: ":")
    }

    private func network(ipv4Bits: Int, ipv6Bits: Int) -> ClientNetwork {
        let isIPv6 = bytes.count == 16
        let length = isIPv6 ? ipv6Bits : ipv4Bits
        var prefix: UInt64 = 0
        for index in 0..<(length / 8) { prefix = prefix << 8 | UInt64(bytes[index]) }
        return ClientNetwork(prefix: prefix, length: UInt8(length), isIPv6: isIPv6)
    }
}

/// A network prefix of at most 64 bits, the key that limits are counted under.
public struct ClientNetwork: Hashable, Sendable {
    let prefix: UInt64
    let length: UInt8
    let isIPv6: Bool
}
