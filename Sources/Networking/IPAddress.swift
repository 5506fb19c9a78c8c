internal import Glibc

/// An IPv4 or IPv6 address.
///
/// Two machine words and a flag: copying and hashing it allocates nothing. An IPv4-mapped IPv6
/// address (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2) is an IPv6 address and differs from
/// `192.0.2.1`; ``unmapped`` gives the IPv4 address. A zone (`fe80::1%eth0`) is not part of it.
public struct IPAddress: Hashable, Sendable {
    /// The longest text form, `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`.
    public static let maxTextBytes = 45

    /// 127.0.0.1.
    public static let loopback = IPAddress(v4: 0x7f00_0001)

    public let isIPv4: Bool
    /// The first 64 bits of an IPv6 address; 0 for IPv4.
    let high: UInt64
    /// The last 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
    let low: UInt64

    /// - Parameter number: the first byte of the address is the highest.
    public init(v4 number: UInt32) {
        self.init(isIPv4: true, high: 0, low: UInt64(number))
    }

    /// - Parameters:
    ///   - high: the first eight bytes of the address, the first one highest.
    ///   - low: the last eight bytes.
    public init(v6 high: UInt64, _ low: UInt64) {
        self.init(isIPv4: false, high: high, low: low)
    }

    private init(isIPv4: Bool, high: UInt64, low: UInt64) {
        self.isIPv4 = isIPv4
        self.high = high
        self.low = low
    }

    /// - Parameter bytes: in network order: 4 for IPv4, 16 for IPv6.
    /// - Returns: `nil` for any other number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
            bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
        switch bytes.count {
        case 4: self.init(isIPv4: true, high: 0, low: number(bytes))
        case 16: self.init(v6: number(bytes.prefix(8)), number(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// Reads `192.0.2.1` or a form of RFC 4291 §2.2, such as `2001:DB8:0:0::1`.
    ///
    /// - Returns: `nil` for anything else: host names, ports, brackets, zones, white space, decimal
    ///   numbers with leading zeros and the shorter IPv4 forms of inet_aton (`127.1`).
    public init?(_ text: some StringProtocol) {
        self.init(utf8: text.utf8)
    }

    /// As ``init(_:)-(StringProtocol)``, from the bytes of the text.
    public init?(utf8 text: some Collection<UInt8>) {
        guard let address = Self.read(text) else { return nil }
        self = address
    }

    /// Reads only the spelling that all parsers read in the same way: four decimal numbers, or the
    /// lower-case form of RFC 5952.
    public init?(canonical text: String) {
        guard let address = IPAddress(text), address.description == text else { return nil }
        self = address
    }

    /// In network order: 4 bytes for IPv4, 16 for IPv6.
    public var bytes: [UInt8] {
        isIPv4
            ? (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * $0)) }
            : (0..<16).map {
                UInt8(truncatingIfNeeded: ($0 < 8 ? high : low) >> (56 - 8 * ($0 & 7)))
            }
    }

    /// The IPv4 address of an IPv4-mapped IPv6 address; any other address unchanged.
    ///
    /// A socket for both families reports IPv4 clients as mapped addresses. They are unmapped when
    /// they are accepted, so that a client has the same address on every listener.
    public var unmapped: IPAddress { isMapped ? IPAddress(v4: UInt32(low & 0xffff_ffff)) : self }

    /// Whether packets to it never leave the machine: 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        let address = unmapped
        return address.isIPv4 ? address.low >> 24 == 127 : address.high == 0 && address.low == 1
    }

    /// The addresses of one client: an IPv4 address, or an IPv6 /64, because its owner can use
    /// every address of a /64. A mapped address counts as the IPv4 address, here and below.
    public var client: IPBlock { block(v4: 32, v6: 64) }

    /// The addresses of one site: an IPv4 /24 or an IPv6 /48.
    public var site: IPBlock { block(v4: 24, v6: 48) }

    /// The smallest range of one provider: an IPv4 /16 or an IPv6 /32.
    public var region: IPBlock { block(v4: 16, v6: 32) }

    /// The number of bits in an address of this family.
    var bits: Int { isIPv4 ? 32 : 128 }

    var isMapped: Bool { !isIPv4 && high == 0 && low >> 32 == 0xffff }

    /// The address with every bit after the first `length` set to 0.
    func prefix(_ length: Int) -> IPAddress {
        let (high, low) = mask(length)
        return IPAddress(isIPv4: isIPv4, high: self.high & high, low: self.low & low)
    }

    /// The address with every bit after the first `length` set to 1.
    func filled(after length: Int) -> IPAddress {
        let (high, low) = mask(length)
        return IPAddress(
            isIPv4: isIPv4, high: isIPv4 ? 0 : self.high | ~high,
            low: isIPv4 ? (self.low | ~low) & 0xffff_ffff : self.low | ~low)
    }

    private func mask(_ length: Int) -> (high: UInt64, low: UInt64) {
        // An IPv4 address is in the last 32 of the 128 bits. A shift by 64 and more gives 0.
        let length = isIPv4 ? length + 96 : length
        return (~0 << (64 - min(64, length)), ~0 << (64 - max(0, length - 64)))
    }

    private func block(v4: Int, v6: Int) -> IPBlock {
        let address = unmapped
        return IPBlock(of: address, length: address.isIPv4 ? v4 : v6)
    }

    private static func read(_ text: some Collection<UInt8>) -> IPAddress? {
        // inet_pton reads up to a NUL.
        guard text.count <= maxTextBytes, !text.contains(0) else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: maxTextBytes + 1) { buffer in
            var end = 0
            for byte in text {
                buffer[end] = CChar(bitPattern: byte)
                end += 1
            }
            buffer[end] = 0
            guard let start = buffer.baseAddress else { return nil }
            var v4: UInt32 = 0
            if inet_pton(AF_INET, start, &v4) == 1 { return IPAddress(v4: UInt32(bigEndian: v4)) }
            var v6: (UInt64, UInt64) = (0, 0)
            guard inet_pton(AF_INET6, start, &v6) == 1 else { return nil }
            return IPAddress(v6: UInt64(bigEndian: v6.0), UInt64(bigEndian: v6.1))
        }
    }
}

extension IPAddress: Comparable {
    /// By number, every IPv4 address before every IPv6 address.
    public static func < (left: IPAddress, right: IPAddress) -> Bool {
        if left.isIPv4 != right.isIPv4 { return left.isIPv4 }
        return (left.high, left.low) < (right.high, right.low)
    }
}

extension IPAddress: CustomStringConvertible {
    /// `192.0.2.1`, or the form of RFC 5952: `2001:db8::1`, `::ffff:192.0.2.1`.
    public var description: String {
        guard !isIPv4 else { return v4Text }
        return withUnsafeTemporaryAllocation(
            of: CChar.self, capacity: Self.maxTextBytes + 1
        ) { buffer in
            var v6 = (high.bigEndian, low.bigEndian)
            guard let start = buffer.baseAddress,
                let text = inet_ntop(AF_INET6, &v6, start, socklen_t(buffer.count))
            else { preconditionFailure("an address is longer than \(Self.maxTextBytes) bytes") }
            return String(cString: text)
        }
    }

    /// Every request is logged with its client, and `inet_ntop` formats IPv4 with `sprintf`.
    private var v4Text: String {
        String(unsafeUninitializedCapacity: 15) { text in
            var count = 0
            func append(_ byte: UInt8) {
                text[count] = byte
                count += 1
            }
            let zero = UInt8(ascii: "0")
            for shift in [24, 16, 8, 0] as [UInt64] {
                if count > 0 { append(UInt8(ascii: ".")) }
                let part = UInt8(truncatingIfNeeded: low >> shift)
                if part >= 100 { append(zero + part / 100) }
                if part >= 10 { append(zero + part / 10 % 10) }
                append(zero + part % 10)
            }
            return count
        }
    }
}
