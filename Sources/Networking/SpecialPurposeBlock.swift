/// A row of IANA's registries of special-purpose addresses, or a block that is not for global
/// unicast for another reason.
///
/// Some rows of the registries are globally reachable (anycast of AS112, PCP, TURN, AMT). They are
/// listed like the others: no website is served there.
public struct SpecialPurposeBlock: Sendable {
    public let block: IPBlock
    public let name: String
    /// The document that assigned it.
    public let source: String
    /// Whether it is for use inside one machine or one organisation.
    public let isPrivateNetwork: Bool

    private init(
        _ text: String, _ name: String, _ source: String, isPrivateNetwork: Bool = false
    ) {
        guard let block = IPBlock(text) else { preconditionFailure("\(text) is not a block") }
        self.block = block
        self.name = name
        self.source = source
        self.isPrivateNetwork = isPrivateNetwork
    }

    /// https://www.iana.org/assignments/iana-ipv4-special-registry and multicast.
    static let v4 = [
        SpecialPurposeBlock("0.0.0.0/8", "this network", "RFC 791 §3.2"),
        SpecialPurposeBlock("0.0.0.0/32", "this host on this network", "RFC 1122 §3.2.1.3"),
        SpecialPurposeBlock("10.0.0.0/8", "private use", "RFC 1918", isPrivateNetwork: true),
        SpecialPurposeBlock(
            "100.64.0.0/10", "shared address space", "RFC 6598", isPrivateNetwork: true),
        SpecialPurposeBlock("127.0.0.0/8", "loopback", "RFC 1122 §3.2.1.3", isPrivateNetwork: true),
        SpecialPurposeBlock("169.254.0.0/16", "link local", "RFC 3927"),
        SpecialPurposeBlock("172.16.0.0/12", "private use", "RFC 1918", isPrivateNetwork: true),
        SpecialPurposeBlock("192.0.0.0/24", "IETF protocol assignments", "RFC 6890 §2.1"),
        SpecialPurposeBlock("192.0.0.0/29", "IPv4 service continuity", "RFC 7335"),
        SpecialPurposeBlock("192.0.0.8/32", "IPv4 dummy address", "RFC 7600"),
        SpecialPurposeBlock("192.0.0.9/32", "port control anycast", "RFC 7723"),
        SpecialPurposeBlock("192.0.0.10/32", "TURN anycast", "RFC 8155"),
        SpecialPurposeBlock("192.0.0.170/32", "NAT64 discovery", "RFC 8880"),
        SpecialPurposeBlock("192.0.0.171/32", "NAT64 discovery", "RFC 8880"),
        SpecialPurposeBlock("192.0.2.0/24", "documentation, TEST-NET-1", "RFC 5737"),
        SpecialPurposeBlock("192.31.196.0/24", "AS112", "RFC 7535"),
        SpecialPurposeBlock("192.52.193.0/24", "AMT", "RFC 7450"),
        SpecialPurposeBlock("192.88.99.0/24", "deprecated 6to4 relay anycast", "RFC 7526"),
        SpecialPurposeBlock("192.88.99.2/32", "6a44 relay anycast", "RFC 6751"),
        SpecialPurposeBlock("192.168.0.0/16", "private use", "RFC 1918", isPrivateNetwork: true),
        SpecialPurposeBlock("192.175.48.0/24", "AS112 by direct delegation", "RFC 7534"),
        SpecialPurposeBlock("198.18.0.0/15", "benchmarking", "RFC 2544"),
        SpecialPurposeBlock("198.51.100.0/24", "documentation, TEST-NET-2", "RFC 5737"),
        SpecialPurposeBlock("203.0.113.0/24", "documentation, TEST-NET-3", "RFC 5737"),
        SpecialPurposeBlock("224.0.0.0/4", "multicast", "RFC 5771"),
        SpecialPurposeBlock("240.0.0.0/4", "reserved", "RFC 1112 §4"),
        SpecialPurposeBlock("255.255.255.255/32", "limited broadcast", "RFC 919"),
    ]

    /// https://www.iana.org/assignments/iana-ipv6-special-registry and other
    /// blocks outside global unicast.
    static let v6 = [
        SpecialPurposeBlock("::/128", "unspecified", "RFC 4291 §2.5.2"),
        SpecialPurposeBlock("::1/128", "loopback", "RFC 4291 §2.5.3", isPrivateNetwork: true),
        SpecialPurposeBlock("::/96", "IPv4-compatible", "RFC 4291 §2.5.5.1"),
        SpecialPurposeBlock("::ffff:0.0.0.0/96", "IPv4-mapped", "RFC 4291 §2.5.5.2"),
        SpecialPurposeBlock("64:ff9b::/96", "NAT64, well-known", "RFC 6052"),
        SpecialPurposeBlock("64:ff9b:1::/48", "NAT64, local use", "RFC 8215"),
        SpecialPurposeBlock("100::/64", "discard only", "RFC 6666"),
        SpecialPurposeBlock("100:0:0:1::/64", "dummy prefix", "RFC 9780"),
        SpecialPurposeBlock("2001::/23", "IETF protocol assignments", "RFC 2928"),
        SpecialPurposeBlock("2001::/32", "Teredo", "RFC 4380"),
        SpecialPurposeBlock("2001:1::1/128", "port control anycast", "RFC 7723"),
        SpecialPurposeBlock("2001:1::2/128", "TURN anycast", "RFC 8155"),
        SpecialPurposeBlock("2001:1::3/128", "DNS-SD service registration anycast", "RFC 9665"),
        SpecialPurposeBlock("2001:2::/48", "benchmarking", "RFC 5180"),
        SpecialPurposeBlock("2001:3::/32", "AMT", "RFC 7450"),
        SpecialPurposeBlock("2001:4:112::/48", "AS112", "RFC 7535"),
        SpecialPurposeBlock("2001:10::/28", "deprecated ORCHID", "RFC 4843"),
        SpecialPurposeBlock("2001:20::/28", "ORCHIDv2", "RFC 7343"),
        SpecialPurposeBlock("2001:30::/28", "drone remote identification", "RFC 9374"),
        SpecialPurposeBlock("2001:db8::/32", "documentation", "RFC 3849"),
        SpecialPurposeBlock("2002::/16", "6to4", "RFC 3056"),
        SpecialPurposeBlock("2620:4f:8000::/48", "AS112 by direct delegation", "RFC 7534"),
        SpecialPurposeBlock("3fff::/20", "documentation", "RFC 9637"),
        SpecialPurposeBlock("5f00::/16", "segment routing identifiers", "RFC 9602"),
        SpecialPurposeBlock("fc00::/7", "unique local", "RFC 4193", isPrivateNetwork: true),
        SpecialPurposeBlock("fe80::/10", "link local", "RFC 4291 §2.5.6"),
        SpecialPurposeBlock("fec0::/10", "deprecated site local", "RFC 3879"),
        SpecialPurposeBlock("ff00::/8", "multicast", "RFC 4291 §2.7"),
    ]
}

extension SpecialPurposeBlock: CustomStringConvertible {
    /// `link local, RFC 3927`.
    public var description: String { "\(name), \(source)" }
}

extension IPAddress {
    /// RFC 4291 §2.4: the part of IPv6 that global unicast addresses are assigned from.
    private static let globalUnicast = IPBlock(of: IPAddress(v6: 0x2000 << 48, 0), length: 3)

    /// Whether the address is for one host on the Internet: not in a ``SpecialPurposeBlock``, and
    /// if IPv6, in 2000::/3. IPv6 forms that contain an IPv4 address (mapped, NAT64, 6to4, Teredo)
    /// are not, whatever the IPv4 address.
    public var isGloballyReachable: Bool {
        specialPurposeBlocks.isEmpty && (isIPv4 || Self.globalUnicast.contains(self))
    }

    /// Whether the address is for use inside one machine or one organisation: loopback, private
    /// use, shared address space, unique local. Link-local addresses are not.
    public var isPrivateNetwork: Bool {
        specialPurposeBlocks.contains(where: \.isPrivateNetwork)
    }

    /// The smallest of the special-purpose blocks that the address is in.
    public var specialPurpose: SpecialPurposeBlock? {
        specialPurposeBlocks.max { $0.block.length < $1.block.length }
    }

    private var specialPurposeBlocks: [SpecialPurposeBlock] {
        (isIPv4 ? SpecialPurposeBlock.v4 : SpecialPurposeBlock.v6).filter {
            $0.block.contains(self)
        }
    }
}
