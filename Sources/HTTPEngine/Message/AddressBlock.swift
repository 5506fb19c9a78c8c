/// A block of network addresses, `192.0.2.0/24` or `2001:db8::/32`; without a length one address.
///
/// Asked for every request and every trusted proxy: holds no heap memory and compares two words.
public struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
    private let network: PeerAddress
    private let length: Int

    /// - Returns: `nil` for what is no block, also when it has bits beyond its length: who wrote
    ///   `10.0.0.1/8` meant another one.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let network = PeerAddress(address: String(parts[0])) else { return nil }
        var length = network.width
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(ASCII.isDigit),
                let given = Int(parts[1])
            else { return nil }
            // ::ffff:10.0.0.0/104 is 10.0.0.0/8, as the addresses it is compared with are IPv4.
            let isMapped = network.family == .v4 && parts[0].utf8.contains(UInt8(ascii: ":"))
            length = isMapped ? given - 96 : given
            guard (0...network.width).contains(length) else { return nil }
        }
        guard network.first(length) == network else { return nil }
        self.network = network
        self.length = length
    }

    public func contains(_ peer: PeerAddress) -> Bool {
        peer.family == network.family && peer.first(length) == network
    }

    public var description: String {
        length == network.width ? network.text : "\(network.text)/\(length)"
    }
}

extension [AddressBlock] {
    func contain(_ peer: PeerAddress) -> Bool { contains { $0.contains(peer) } }
}
