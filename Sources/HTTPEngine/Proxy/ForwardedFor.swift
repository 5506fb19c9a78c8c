internal import Networking

/// Finds the client of a request that came through proxies.
///
/// Each proxy appends the address it received the request from, and anybody can begin such a list.
/// So it is read from its end, as long as the addresses are those of trusted proxies. The first
/// other address is the client; everything before it is ignored.
enum ForwardedFor {
    /// The most proxies in one chain. The beginning of a longer list was written by the client.
    static let maxHops = 32

    static func client(
        of headers: HeaderFields, from peer: IPAddress, trusting proxies: TrustedProxies
    ) -> IPAddress {
        guard proxies.contain(peer) else { return peer }
        let header = proxies.forwardedHeader
        var client = peer
        var hops = 0
        // Each line is read on its own, so that a line with an open quote cannot swallow the next.
        for line in headers.values(header.rawValue).reversed() {
            for node in nodes(line.bytes, header).reversed() {
                // The proxy that forwarded an unreadable entry counts as the client.
                guard hops < maxHops, let before = node else { return client }
                client = before
                hops += 1
                guard proxies.contain(client) else { return client }
            }
        }
        return client
    }

    /// The addresses of a line, in order; `nil` for an entry that is not an address.
    private static func nodes(
        _ line: ArraySlice<UInt8>, _ header: ForwardedHeader
    ) -> [IPAddress?] {
        switch header {
        case .xForwardedFor:
            line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                .suffix(maxHops + 1).map { address(ofNode: $0.trimmingBlanks, bracketed: false) }
        case .forwarded:
            ForwardedList.nodes(line).suffix(maxHops + 1).map { node in
                node.flatMap { address(ofNode: $0[...], bracketed: true) }
            }
        }
    }

    /// Reads an address with or without a port: `192.0.2.1`, `192.0.2.1:80`, `[2001:db8::1]:80`.
    /// - Parameter bracketed: whether an IPv6 address must be in brackets. Otherwise it may also be
    ///   bare, and then has no port.
    static func address(ofNode node: ArraySlice<UInt8>, bracketed: Bool) -> IPAddress? {
        let colon = UInt8(ascii: ":")
        if node.first == UInt8(ascii: "[") {
            guard let end = node.firstIndex(of: UInt8(ascii: "]")),
                isPort(node[end...].dropFirst())
            else { return nil }
            let host = node[..<end].dropFirst()
            guard host.contains(colon) else { return nil }
            return IPAddress(utf8: host)?.unmapped
        }
        let colons = node.count { $0 == colon }
        let host = colons == 1 ? node.prefix { $0 != colon } : node
        guard colons <= 1 || !bracketed, isPort(node[host.endIndex...]) else { return nil }
        return IPAddress(utf8: host)?.unmapped
    }

    /// Nothing, or a colon and a port. RFC 7239 §6 allows an obfuscated port.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.first == UInt8(ascii: ":") else { return text.isEmpty }
        let port = text.dropFirst()
        if port.first == UInt8(ascii: "_") {
            return port.count > 1 && port.allSatisfy(isObfuscated)
        }
        return (1...5).contains(port.count) && port.allSatisfy(ASCII.isDigit)
            && port.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 65_535
    }

    private static func isObfuscated(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            return true
        default: return false
        }
    }
}
