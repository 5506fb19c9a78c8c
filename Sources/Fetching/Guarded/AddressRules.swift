/// Which addresses may be connected to on behalf of a stranger.
///
/// Promises: without private networks only what is globally reachable, that is IPv4 outside
/// ``SpecialBlock/v4`` and IPv6 inside 2000::/3 and outside ``SpecialBlock/v6``. With private
/// networks also loopback and the blocks for use inside an organisation; link-local addresses,
/// where clouds keep their instances' credentials, and every disguise of an IPv4 address stay
/// refused.
public struct AddressRules: Sendable {
    /// RFC 4291 §2.4: the part of IPv6 that global unicast addresses are given out from.
    static let globalUnicast = AddressBlock("2000::/3")

    private let allowsPrivateNetworks: Bool

    public init(allowsPrivateNetworks: Bool = false) {
        self.allowsPrivateNetworks = allowsPrivateNetworks
    }

    public func allows(_ address: IPAddress) -> Bool {
        let special = SpecialBlock.all(address.family).filter { $0.block.contains(address) }
        guard special.isEmpty else {
            return allowsPrivateNetworks && special.contains(where: \.isPrivateNetwork)
        }
        return address.family == .v4 || Self.globalUnicast.contains(address)
    }
}
