import TestPrimitives
import Testing

@testable import Networking

@Suite struct IPBlockTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("192.0.2.128/25", "192.0.2.200", true), ("192.0.2.128/25", "192.0.2.127", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("192.0.2.1/32", "192.0.2.1", true), ("192.0.2.0/31", "192.0.2.1", true),
        ("0.0.0.0/0", "0.0.0.0", true), ("0.0.0.0/0", "255.255.255.255", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "192.0.2.1", false), ("::/0", "2001:db8::1", true),
        ("::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true),
        ("::/1", "7fff::", true), ("::/1", "8000::", false),
        ("2001:db8::/32", "2001:db8:1::1", true), ("2001:db8::/32", "2001:db9::", false),
        ("::1", "::1", true), ("::1/128", "::1", true), ("::1/128", "::2", false),
        ("2001:db8:0:0::/64", "2001:db8::ffff:0:0:1", true),
        ("2001:db8:0:0::/64", "2001:db8:0:1::", false),
        ("2001:db8::8000:0:0:0/65", "2001:db8:0:0:8fff::", true),
        ("2001:db8::8000:0:0:0/65", "2001:db8:0:0:7fff::", false),
        ("2001:db8::/63", "2001:db8:0:1::", true), ("2001:db8::/63", "2001:db8:0:2::", false),
        ("10.0.0.1", "::10.0.0.1", false),
        // Mapped addresses are IPv6 until they are unmapped.
        ("::ffff:10.0.0.0/104", "::ffff:10.1.2.3", true), ("::ffff:0:0/96", "::ffff:1.2.3.4", true),
        ("::ffff:10.0.0.0/104", "10.1.2.3", false), ("10.0.0.0/8", "::ffff:10.1.2.3", false),
    ])
    func aBlockContainsTheAddressesThatShareItsFirstBits(
        block: String, address: String, isIn: Bool
    ) throws {
        let address = try #require(IPAddress(address))
        #expect(try #require(IPBlock(block)).contains(address) == isIn)
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0/-8", "10.0.0.0/08",
        "10.0.0.0/00", "10.0.0.0/8/8", "10.0.0.0/8 ", "10.0.0.0 /8", "10.0.0.1/8", "10.0.0.0/٨",
        "10.0.0.0/1000", "10.0.0.0/104", "10.0.0.0/255.0.0.0", "10.0.0", "10.0.0/8", "10/8",
        "10.0.0.0.0", "010.0.0.1", "2001:db8::/129", "2001:db8::1/32", "::1/127", "[::1]",
        "[::]/0", "fe80::1%lo", "fe80::%lo/10", "localhost", "10.0.0.1\0", "10.0.0.0/8\0",
        " 10.0.0.1", "::ffff:10.0.0.0/8", "::ffff:10.0.0.0/95", "::ffff:10.0.0.0/129",
    ])
    func anythingElseIsNotABlock(text: String) {
        #expect(IPBlock(text) == nil)
    }

    @Test(arguments: [
        "10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1", "0.0.0.0/0", "::/0",
        "::ffff:10.0.0.0/104",
    ])
    func aBlockIsWrittenAsItIsRead(text: String) {
        #expect(IPBlock(text)?.description == text)
    }

    @Test func aBlockOfOneAddressIsWrittenAsTheAddress() {
        #expect(IPBlock("192.0.2.1/32")?.description == "192.0.2.1")
        #expect(IPBlock("::1/128")?.description == "::1")
        #expect(IPBlock("192.0.2.1/32") == IPBlock("192.0.2.1"))
    }

    @Test func blocksOfOtherLengthsAndFamiliesAreOtherBlocks() throws {
        let blocks = ["0.0.0.0/0", "0.0.0.0/8", "::/0", "::/8", "::", "0.0.0.0"].map { IPBlock($0) }
        #expect(Set(blocks).count == 6)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0", "10.255.255.255"), ("192.0.2.1", "192.0.2.1", "192.0.2.1"),
        ("0.0.0.0/0", "0.0.0.0", "255.255.255.255"),
        ("::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::/64", "2001:db8::", "2001:db8::ffff:ffff:ffff:ffff"),
        ("2001:db8::/65", "2001:db8::", "2001:db8::7fff:ffff:ffff:ffff"), ("::1", "::1", "::1"),
    ])
    func aBlockHasAFirstAndALastAddress(text: String, first: String, last: String) throws {
        let block = try #require(IPBlock(text))
        #expect(block.first.description == first)
        #expect(block.last.description == last)
        #expect(block.contains(block.first) && block.contains(block.last))
    }

    @Test(arguments: [
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"), ("::ffff:0:0/96", "0.0.0.0/0"),
        ("::ffff:10.0.0.1", "10.0.0.1"), ("10.0.0.0/8", "10.0.0.0/8"), ("::/0", "::/0"),
        ("::fffe:0:0/95", "::fffe:0:0/95"), ("2001:db8::/32", "2001:db8::/32"),
        ("::10.0.0.0/104", "::10.0.0.0/104"),
    ])
    func aBlockOfMappedAddressesIsUnmapped(text: String, unmapped: String) throws {
        #expect(IPBlock(text)?.unmapped == IPBlock(unmapped))
    }

    @Test(arguments: [21, 22] as [UInt64])
    func theFirstBitsAreKeptAndTheOthersCleared(seed: UInt64) {
        func bits(_ address: IPAddress) -> [UInt8] {
            address.bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            for address in [
                IPAddress(v6: random.next(), random.next()),
                IPAddress(v4: UInt32(truncatingIfNeeded: random.next())),
            ] {
                for length in 0...address.bits {
                    let block = IPBlock(of: address, length: length)
                    let given = bits(address).enumerated()
                    #expect(bits(block.first) == given.map { $0 < length ? $1 : 0 })
                    #expect(bits(block.last) == given.map { $0 < length ? $1 : 1 })
                    #expect(block.length == length && block.contains(address))
                }
            }
        }
    }
}
