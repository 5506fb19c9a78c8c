// All of them: whose copy of the system's socket types the compiler means depends on which module
// it has met first.
internal import CCurl
internal import CResolver
internal import Glibc

/// An IPv4 or IPv6 address as a number. `::ffff:192.0.2.1` is IPv6 and stays it: what a form
/// stands for is for ``AddressRules`` to say.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    enum Family: Sendable {
        case v4, v6

        var bits: Int { self == .v4 ? 32 : 128 }
    }

    let family: Family
    /// The first octet highest; an IPv4 address in the lowest 32 bits.
    let number: UInt128

    public init(v4 number: UInt32) {
        self.init(.v4, UInt128(number))
    }

    public init(v6 number: UInt128) {
        self.init(.v6, number)
    }

    init(_ family: Family, _ number: UInt128) {
        self.family = family
        self.number = number
    }

    /// Only the one spelling that every parser reads alike: four decimal octets without leading
    /// zeros, or RFC 5952's form in lower case, without brackets and zone.
    public init?(canonical text: String) {
        guard let address = IPAddress(text), address.text == text else { return nil }
        self = address
    }

    /// What a socket function gave. The scope of a link-local address is not kept.
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let number = raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
            self.init(v4: UInt32(bigEndian: number))
        case AF_INET6:
            var octets = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(v6: withUnsafeBytes(of: &octets, Self.number))
        default:
            return nil
        }
    }

    private init?(_ text: String) {
        // A NUL would end the text early where C reads it.
        guard !text.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(v6: withUnsafeBytes(of: &v6, Self.number))
        } else {
            return nil
        }
    }

    /// `192.0.2.1` or `2001:db8::1`.
    public var text: String {
        let octets = (0..<family.bits / 8).reversed().map {
            UInt8(truncatingIfNeeded: number >> ($0 * 8))
        }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(
            family == .v4 ? AF_INET : AF_INET6, octets, &buffer, socklen_t(buffer.count))
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }

    public var description: String { text }

    private static func number(_ octets: UnsafeRawBufferPointer) -> UInt128 {
        octets.reduce(0) { $0 << 8 | UInt128($1) }
    }
}
