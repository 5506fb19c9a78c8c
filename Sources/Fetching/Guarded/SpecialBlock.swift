/// A row of IANA's special-purpose address registries, or of what is refused beside them.
///
/// The registries' rows that are themselves globally reachable (anycast of AS112, PCP, TURN, AMT)
/// are refused like the others: no website is there.
struct SpecialBlock: Sendable {
    let block: AddressBlock
    let name: String
    /// The document that set it apart.
    let source: String
    let isPrivateNetwork: Bool

    private init(_ block: String, _ name: String, _ source: String, isPrivate: Bool = false) {
        self.block = AddressBlock(block)
        self.name = name
        self.source = source
        isPrivateNetwork = isPrivate
    }

    static func all(_ family: IPAddress.Family) -> [SpecialBlock] {
        family == .v4 ? v4 : v6
    }

    /// https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast.
    static let v4 = [
        SpecialBlock("0.0.0.0/8", "this network", "RFC 791 §3.2"),
        SpecialBlock("0.0.0.0/32", "this host on this network", "RFC 1122 §3.2.1.3"),
        SpecialBlock("10.0.0.0/8", "private use", "RFC 1918", isPrivate: true),
        SpecialBlock("100.64.0.0/10", "shared address space", "RFC 6598", isPrivate: true),
        SpecialBlock("127.0.0.0/8", "loopback", "RFC 1122 §3.2.1.3", isPrivate: true),
        SpecialBlock("169.254.0.0/16", "link local", "RFC 3927"),
        SpecialBlock("172.16.0.0/12", "private use", "RFC 1918", isPrivate: true),
        SpecialBlock("192.0.0.0/24", "IETF protocol assignments", "RFC 6890 §2.1"),
        SpecialBlock("192.0.0.0/29", "IPv4 service continuity", "RFC 7335"),
        SpecialBlock("192.0.0.8/32", "IPv4 dummy address", "RFC 7600"),
        SpecialBlock("192.0.0.9/32", "port control anycast", "RFC 7723"),
        SpecialBlock("192.0.0.10/32", "TURN anycast", "RFC 8155"),
        SpecialBlock("192.0.0.170/32", "NAT64 discovery", "RFC 8880"),
        SpecialBlock("192.0.0.171/32", "NAT64 discovery", "RFC 8880"),
        SpecialBlock("192.0.2.0/24", "documentation, TEST-NET-1", "RFC 5737"),
        SpecialBlock("192.31.196.0/24", "AS112", "RFC 7535"),
        SpecialBlock("192.52.193.0/24", "AMT", "RFC 7450"),
        SpecialBlock("192.88.99.0/24", "deprecated 6to4 relay anycast", "RFC 7526"),
        SpecialBlock("192.88.99.2/32", "6a44 relay anycast", "RFC 6751"),
        SpecialBlock("192.168.0.0/16", "private use", "RFC 1918", isPrivate: true),
        SpecialBlock("192.175.48.0/24", "AS112 by direct delegation", "RFC 7534"),
        SpecialBlock("198.18.0.0/15", "benchmarking", "RFC 2544"),
        SpecialBlock("198.51.100.0/24", "documentation, TEST-NET-2", "RFC 5737"),
        SpecialBlock("203.0.113.0/24", "documentation, TEST-NET-3", "RFC 5737"),
        SpecialBlock("224.0.0.0/4", "multicast", "RFC 5771"),
        SpecialBlock("240.0.0.0/4", "reserved", "RFC 1112 §4"),
        SpecialBlock("255.255.255.255/32", "limited broadcast", "RFC 919"),
    ]

    /// https://www.iana.org/assignments/iana-ipv6-special-registry, and what else is set apart.
    static let v6 = [
        SpecialBlock("::/128", "unspecified", "RFC 4291 §2.5.2"),
        SpecialBlock("::1/128", "loopback", "RFC 4291 §2.5.3", isPrivate: true),
        SpecialBlock("::/96", "IPv4-compatible", "RFC 4291 §2.5.5.1"),
        SpecialBlock("::ffff:0.0.0.0/96", "IPv4-mapped", "RFC 4291 §2.5.5.2"),
        SpecialBlock("64:ff9b::/96", "NAT64, well-known", "RFC 6052"),
        SpecialBlock("64:ff9b:1::/48", "NAT64, local use", "RFC 8215"),
        SpecialBlock("100::/64", "discard only", "RFC 6666"),
        SpecialBlock("100:0:0:1::/64", "dummy prefix", "RFC 9780"),
        SpecialBlock("2001::/23", "IETF protocol assignments", "RFC 2928"),
        SpecialBlock("2001::/32", "Teredo", "RFC 4380"),
        SpecialBlock("2001:1::1/128", "port control anycast", "RFC 7723"),
        SpecialBlock("2001:1::2/128", "TURN anycast", "RFC 8155"),
        SpecialBlock("2001:1::3/128", "DNS-SD service registration anycast", "RFC 9665"),
        SpecialBlock("2001:2::/48", "benchmarking", "RFC 5180"),
        SpecialBlock("2001:3::/32", "AMT", "RFC 7450"),
        SpecialBlock("2001:4:112::/48", "AS112", "RFC 7535"),
        SpecialBlock("2001:10::/28", "deprecated ORCHID", "RFC 4843"),
        SpecialBlock("2001:20::/28", "ORCHIDv2", "RFC 7343"),
        SpecialBlock("2001:30::/28", "drone remote identification", "RFC 9374"),
        SpecialBlock("2001:db8::/32", "documentation", "RFC 3849"),
        SpecialBlock("2002::/16", "6to4", "RFC 3056"),
        SpecialBlock("2620:4f:8000::/48", "AS112 by direct delegation", "RFC 7534"),
        SpecialBlock("3fff::/20", "documentation", "RFC 9637"),
        SpecialBlock("5f00::/16", "segment routing identifiers", "RFC 9602"),
        SpecialBlock("fc00::/7", "unique local", "RFC 4193", isPrivate: true),
        SpecialBlock("fe80::/10", "link local", "RFC 4291 §2.5.6"),
        SpecialBlock("fec0::/10", "deprecated site local", "RFC 3879"),
        SpecialBlock("ff00::/8", "multicast", "RFC 4291 §2.7"),
    ]
}
