/// The network address a connection came from, as the kernel gave it.
///
/// Promises: an IPv4 client of a dual-stack listener is `.v4`, never `::ffff:…`, so that one client
/// is one key for rate limits whichever listener it used. Holds no heap memory.
public struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    public enum Family: Sendable { case v4, v6 }

    public let family: Family
    public let port: UInt16
    private let high: UInt64
    private let low: UInt64

    /// An IPv4 address; `address` has the first byte in its highest byte.
    public init(v4 address: UInt32, port: UInt16 = 0) {
        self.init(family: .v4, high: 0, low: UInt64(address), port: port)
    }

    /// An IPv6 address as two halves, first byte highest. `::ffff:a.b.c.d` becomes IPv4.
    public init(v6 high: UInt64, _ low: UInt64, port: UInt16 = 0) {
        if high == 0, low >> 32 == 0xffff {
            self.init(v4: UInt32(truncatingIfNeeded: low), port: port)
        } else {
            self.init(family: .v6, high: high, low: low, port: port)
        }
    }

    private init(family: Family, high: UInt64, low: UInt64, port: UInt16) {
        self.family = family
        self.high = high
        self.low = low
        self.port = port
    }

    /// 127.0.0.1, for requests made without a socket.
    public static let loopback = PeerAddress(v4: 0x7f00_0001)

    /// The address in network order: 4 or 16 bytes.
    public var bytes: [UInt8] {
        switch family {
        case .v4: return (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * UInt64($0))) }
        case .v6:
            return (0..<16).map {
                UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - 8 * UInt64($0 & 7)))
            }
        }
    }

    /// What one subscriber holds, to count connections by: an IPv4 address, an IPv6 /64, whose
    /// every address is its holder's for the asking.
    var subscriber: PeerAddress { first(family == .v4 ? 32 : 64) }

    /// How many bits an address of this family has.
    var width: Int { family == .v4 ? 32 : 128 }

    /// The address with every bit after the first `count` cleared, and without its port.
    func first(_ count: Int) -> PeerAddress {
        // IPv4 is the last 32 of 128 bits here.
        let kept = family == .v4 ? count + 96 : count
        return PeerAddress(
            family: family, high: high & Self.mask(kept), low: low & Self.mask(kept - 64), port: 0)
    }

    /// The first so many of 64 bits.
    private static func mask(_ count: Int) -> UInt64 {
        ~0 << (64 - min(64, max(0, count)))
    }

    /// `192.0.2.1` or RFC 5952's `2001:db8::1`, without the port.
    public var text: String {
        switch family {
        case .v4: return bytes.map { String($0) }.joined(separator: ".")
        case .v6: return compressed(groups)
        }
    }

    public var description: String {
        family == .v4 ? "\(text):\(port)" : "[\(text)]:\(port)"
    }

    private var groups: [UInt16] {
        (0..<8).map {
            UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> (48 - 16 * UInt64($0 & 3)))
        }
    }

    private func compressed(_ groups: [UInt16]) -> String {
        var longest = 0..<0
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            // RFC 5952 §4.2: the longest run, the first of equals, never a single group.
            if index - start > max(1, longest.count) { longest = start..<index }
            start = index + 1
        }
        let hex = groups.map { String($0, radix: 16) }
        guard !longest.isEmpty else { return hex.joined(separator: ":") }
        return hex[..<longest.lowerBound].joined(separator: ":") + "::"
            + hex[longest.upperBound...].joined(separator: ":")
    }
}
