import AuthCore
import Testing

struct ClientAddressTests {
    private let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7]

    @Test func aMappedAddressIsTheIPv4AddressItMaps() {
        #expect(ClientAddress(bytes: mapped) == ClientAddress(bytes: [192, 0, 2, 7]))
    }

    @Test func aSubscriberIsAnIPv4AddressOrAnIPv6Slash64() {
        #expect(v4(192, 0, 2, 7).subscriber != v4(192, 0, 2, 8).subscriber)
        #expect(v6(last: 1).subscriber == v6(last: 200).subscriber)
        // The last octet of the 64 bits, or a holder of a /56 were one client.
        #expect(v6(eighth: 1, last: 1).subscriber != v6(eighth: 2, last: 1).subscriber)
    }

    @Test func aSiteIsAnIPv4Slash24OrAnIPv6Slash48() {
        #expect(v4(192, 0, 2, 7).site == v4(192, 0, 2, 200).site)
        #expect(v4(192, 0, 2, 7).site != v4(192, 0, 3, 7).site)
        #expect(v6(seventh: 1, last: 1).site == v6(seventh: 2, last: 1).site)
        #expect(v6(sixth: 1, last: 1).site != v6(sixth: 2, last: 1).site)
    }

    @Test func aRegionIsAnIPv4Slash16OrAnIPv6Slash32() {
        #expect(v4(192, 0, 2, 7).region == v4(192, 0, 3, 7).region)
        #expect(v4(192, 0, 2, 7).region != v4(192, 1, 2, 7).region)
        #expect(v6(sixth: 1, last: 1).region == v6(sixth: 2, last: 1).region)
        #expect(v6(fourth: 1, last: 1).region != v6(fourth: 2, last: 1).region)
    }

    @Test func networksOfDifferentSizesAreDifferent() {
        let zero = v4(0, 0, 0, 0)
        #expect(Set([zero.subscriber, zero.site, zero.region]).count == 3)
    }

    @Test func equalPrefixesOfDifferentFamiliesAreDifferentNetworks() {
        let four = ClientAddress(bytes: [0x20, 1, 0xd, 0xb8])
        #expect(four.subscriber != v6(last: 0).subscriber)
    }

    private func v4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> ClientAddress {
        ClientAddress(bytes: [a, b, c, d])
    }

    private func v6(
        fourth: UInt8 = 0xb8, sixth: UInt8 = 0, seventh: UInt8 = 0,
        eighth: UInt8 = 0, last: UInt8
    ) -> ClientAddress {
        ClientAddress(
            bytes: [0x20, 1, 0xd, fourth, 0, sixth, seventh, eighth]
                + [0, 0, 0, 0, 0, 0, 0, last])
    }
}
