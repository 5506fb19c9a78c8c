/// The IP addresses that share their first bits: `192.0.2.0/24`, `2001:db8::/32`.
///
/// The bits after the first ``length`` are 0, so that two equal blocks have one value: it is a key
/// for tables of limits. Copying and hashing it allocates nothing.
public struct IPBlock: Hashable, Sendable {
    /// The lowest address of the block.
    public let first: IPAddress
    private let bits: UInt8

    /// The block of this length that `address` is in.
    /// - Parameter length: 0 to 32 for IPv4, 0 to 128 for IPv6.
    public init(of address: IPAddress, length: Int) {
        precondition((0...address.bits).contains(length))
        first = address.prefix(length)
        bits = UInt8(length)
    }

    /// Reads an address and a length (`10.0.0.0/8`), or an address alone, which is a block of one.
    ///
    /// - Returns: `nil` for anything else, also for an address with bits after the length
    ///   (`10.0.0.1/8`): its writer meant another block.
    public init?(_ text: some StringProtocol) {
        let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.utf8.endIndex
        guard let first = IPAddress(utf8: text.utf8[..<slash]) else { return nil }
        var length = first.bits
        if slash != text.utf8.endIndex {
            guard let number = Self.number(text.utf8[slash...].dropFirst()),
                number <= first.bits
            else { return nil }
            length = number
        }
        self.init(of: first, length: length)
        guard self.first == first else { return nil }
    }

    /// How many bits the addresses share.
    public var length: Int { Int(bits) }

    /// The highest address of the block.
    public var last: IPAddress { first.filled(after: length) }

    /// Whether `address` is in the block. An IPv4-mapped address is in blocks of IPv6 only; see
    /// ``IPAddress/unmapped``.
    public func contains(_ address: IPAddress) -> Bool {
        address.isIPv4 == first.isIPv4 && address.prefix(length) == first
    }

    /// The block of IPv4 addresses that a block of IPv4-mapped addresses stands for
    /// (`10.0.0.0/8` for `::ffff:10.0.0.0/104`); any other block itself.
    public var unmapped: IPBlock {
        guard first.isMapped, length >= 96 else { return self }
        return IPBlock(of: first.unmapped, length: length - 96)
    }

    /// Decimal, without sign and leading zeros.
    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard (1...3).contains(digits.count), digits.first != UInt8(ascii: "0") || digits.count == 1
        else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}

extension IPBlock: CustomStringConvertible {
    /// `10.0.0.0/8`; a block of one address is shown as the address.
    public var description: String { length == first.bits ? "\(first)" : "\(first)/\(length)" }
}
