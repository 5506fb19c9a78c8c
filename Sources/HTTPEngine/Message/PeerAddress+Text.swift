// All of them: whose copy of the system's socket types the compiler means depends on which module
// it has met first.
internal import CSocket
internal import Glibc

extension PeerAddress {
    /// - Parameter address: as people write it, without port, brackets and zone.
    init?(address: String, port: UInt16 = 0) {
        // A NUL would end the text early where C reads it.
        guard !address.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, address, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr), port: port)
        } else if inet_pton(AF_INET6, address, &v6) == 1 {
            let (high, low) = withUnsafeBytes(of: &v6) {
                ($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self))
            }
            self.init(v6: UInt64(bigEndian: high), UInt64(bigEndian: low), port: port)
        } else {
            return nil
        }
    }

    /// With a port or without: `192.0.2.1`, `192.0.2.1:80`, `[2001:db8::1]:80`.
    /// - Parameter bracketed: whether an IPv6 address must be in brackets; otherwise it may also be
    ///   bare, and then has no port.
    init?(node: some StringProtocol, bracketed: Bool) {
        let text = Substring(node)
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]"), Self.isPort(text[end...].dropFirst()) else {
                return nil
            }
            let host = String(text[..<end].dropFirst())
            guard host.utf8.contains(UInt8(ascii: ":")) else { return nil }
            self.init(address: host)
            return
        }
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        let host = colons == 1 ? text.prefix { $0 != ":" } : text
        guard colons <= 1 || !bracketed, Self.isPort(text[host.endIndex...]) else { return nil }
        self.init(address: String(host))
    }

    /// Nothing, or a colon and a port; RFC 7239 §6 allows an obfuscated one.
    private static func isPort(_ text: Substring) -> Bool {
        guard text.first == ":" else { return text.isEmpty }
        let port = text.dropFirst().utf8
        if port.first == UInt8(ascii: "_") { return port.count > 1 && port.allSatisfy(isObscured) }
        return (1...5).contains(port.count) && port.allSatisfy(ASCII.isDigit)
            && UInt16(String(text.dropFirst())) != nil
    }

    private static func isObscured(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            return true
        default: return false
        }
    }
}
