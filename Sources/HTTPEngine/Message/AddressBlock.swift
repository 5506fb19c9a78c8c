internal import Glibc

/// A block of network addresses, `192.0.2.0/24` or `2001:db8::/32`; without a length one address.
public struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
    private let network: PeerAddress
    private let length: Int

    /// - Returns: `nil` for what is no block, also when it has bits beyond its length: who wrote
    ///   `10.0.0.1/8` meant another one.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let network = PeerAddress(address: String(parts[0])) else { return nil }
        let bits = network.bytes.count * 8
        var length = bits
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(Octet.isDigit),
                let given = Int(parts[1]), given <= bits
            else { return nil }
            length = given
        }
        guard network.leading(length) == network.bytes else { return nil }
        self.network = network
        self.length = length
    }

    public func contains(_ peer: PeerAddress) -> Bool {
        peer.family == network.family && peer.leading(length) == network.bytes
    }

    public var description: String {
        length == network.bytes.count * 8 ? network.text : "\(network.text)/\(length)"
    }
}

extension PeerAddress {
    /// - Parameter address: as people write it, without port, brackets and zone.
    init?(address: String) {
        // A NUL would end the text early where C reads it.
        guard !address.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, address, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, address, &v6) == 1 {
            let (high, low) = withUnsafeBytes(of: &v6) {
                ($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self))
            }
            self.init(v6: UInt64(bigEndian: high), UInt64(bigEndian: low))
        } else {
            return nil
        }
    }

    /// The address with every bit after the first `length` cleared.
    fileprivate func leading(_ length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(8, max(0, length - index * 8))
            return byte & ~UInt8(truncatingIfNeeded: 0xff >> kept)
        }
    }
}
