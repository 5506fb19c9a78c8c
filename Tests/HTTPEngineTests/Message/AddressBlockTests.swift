import Testing

@testable import HTTPEngine

@Suite struct AddressBlockTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("192.0.2.128/25", "192.0.2.200", true), ("192.0.2.128/25", "192.0.2.127", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false),
        ("2001:db8::/32", "2001:db8:1::1", true), ("2001:db8::/32", "2001:db9::", false),
        ("::1", "::1", true), ("::/0", "192.0.2.1", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
        ("::ffff:10.0.0.0/104", "10.1.2.3", true), ("::ffff:10.0.0.0/104", "11.1.2.3", false),
        ("::ffff:0:0/96", "203.0.113.9", true), ("::ffff:10.0.0.1", "10.0.0.1", true),
        ("2001:db8::8000:0:0:0/65", "2001:db8:0:0:8fff::", true),
        ("2001:db8::8000:0:0:0/65", "2001:db8:0:0:7fff::", false),
        ("2001:db8:0:0::/64", "2001:db8::ffff:0:0:1", true),
        ("10.0.0.1", "::10.0.0.1", false), ("::/0", "2001:db8::1", true),
    ])
    func aBlockHoldsWhatSharesItsFirstBits(block: String, address: String, isIn: Bool) throws {
        let peer = try #require(PeerAddress(address: address))
        #expect(try #require(AddressBlock(block)).contains(peer) == isIn)
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.1/8",
        "10.0.0", "10.0.0.0.0", "010.0.0.1", "2001:db8::/129", "2001:db8::1/32", "[::1]",
        "fe80::1%lo", "localhost", "10.0.0.1\0", " 10.0.0.1", "10.0.0.0/٨", "::ffff:10.0.0.0/8",
        "::ffff:10.0.0.0/95", "::ffff:10.0.0.0/129", "10.0.0.0/104",
    ])
    func whatIsNoBlockIsRefused(text: String) {
        #expect(AddressBlock(text) == nil)
    }

    @Test func aPeersPortDoesNotMatter() throws {
        let block = try #require(AddressBlock("192.0.2.0/31"))
        #expect(block.contains(PeerAddress(v4: 0xc000_0201, port: 4_711)))
    }

    @Test(arguments: ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1", "0.0.0.0/0"])
    func itIsShownAsItIsWritten(text: String) {
        #expect(AddressBlock(text)?.description == text)
    }
}
