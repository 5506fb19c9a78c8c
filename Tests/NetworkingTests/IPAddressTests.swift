import Networking
import TestPrimitives
import Testing

@Suite struct IPAddressTests {
    private static let canonical = [
        "0.0.0.0", "127.0.0.1", "192.0.2.1", "255.255.255.255", "::", "::1", "1::", "fe80::1",
        "2001:db8::1", "1:2:3:4:5:6:7:8", "::ffff:127.0.0.1", "::ffff:0.0.0.0",
    ]

    @Test(arguments: canonical) func theCanonicalFormIsReadAndWritten(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == text)
        #expect(IPAddress(canonical: text) == address)
        #expect(IPAddress(utf8: Array(text.utf8)) == address)
    }

    /// RFC 4291 §2.2 and the examples of RFC 5952.
    @Test(arguments: [
        ("2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"),
        ("FF01:0:0:0:0:0:0:101", "ff01::101"), ("0:0:0:0:0:0:0:1", "::1"),
        ("0:0:0:0:0:0:0:0", "::"), ("0:0:0:0:0:FFFF:129.144.52.38", "::ffff:129.144.52.38"),
        ("::ffff:8190:3426", "::ffff:129.144.52.38"),
        ("::FFFF:129.144.52.38", "::ffff:129.144.52.38"),
        // §4.1: no leading zeros in a group.
        ("2001:0db8::0001", "2001:db8::1"),
        // §4.2.1: as short as possible.
        ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"), ("2001:db8::0:1", "2001:db8::1"),
        // §4.2.2: not for one group.
        ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        // §4.2.3: the longest run, and the first of equal ones.
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("1::3:4:5:6:7:8", "1:0:3:4:5:6:7:8"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
    ])
    func otherFormsOfIPv6AreReadButAreNotCanonical(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
        #expect(IPAddress(canonical: text) == nil)
    }

    @Test(arguments: [
        "", "1", "2130706433", "127.1", "127.0.1", "0177.0.0.1", "127.0.0.01", "00.0.0.0",
        "0x7f.0.0.1", "0x7f000001", "127.0.0.1.", ".127.0.0.1", "127..0.1", "127.0.0.256",
        "127.0.0.1\0", "\u{0}127.0.0.1", " 127.0.0.1", "127.0.0.1 ", "127.0.0.1\n", "127.0.0.1/8",
        "127.0.0.1:80", "1.2.3.4.5", "+1.2.3.4", "-1.2.3.4", "1.2.3.٤", "１.2.3.4", "localhost",
        ":", ":::", "1", "1:", ":1", "::1::", "1::2::3", "12345::", "::12345", "::g", "::1\0",
        "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8",
        "fe80::1%1", "fe80::1%lo", "fe80::1%", "[::1]", "[::1", "::1/128", " ::1", "::1 ",
        "::ffff:1.2.3", "::ffff:1.2.3.04", "::ffff:1.2.3.4.5", "::1.2.3.4:5", "1.2.3.4::",
        "0000000000000000000000000000000000000000000000", "::ffff:127.0.0.1é",
    ])
    func anythingElseIsNotRead(text: String) {
        #expect(IPAddress(text) == nil)
        #expect(IPAddress(utf8: Array(text.utf8)) == nil)
        #expect(IPAddress(canonical: text) == nil)
    }

    @Test func theLongestTextIsRead() {
        let text = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"
        #expect(text.utf8.count == IPAddress.maxTextBytes)
        #expect(IPAddress(text) == IPAddress(v6: .max, .max))
    }

    @Test func partOfATextIsReadInPlace() {
        let text = "[2001:db8::1]:80"
        #expect(IPAddress(text.dropFirst().prefix(11)) == IPAddress("2001:db8::1"))
    }

    @Test func bytesAreInNetworkOrder() throws {
        #expect(IPAddress(v4: 0xc000_0201).description == "192.0.2.1")
        #expect(IPAddress(v6: 0x2001_0db8 << 32, 7).description == "2001:db8::7")
        #expect(IPAddress("192.0.2.1")?.bytes == [192, 0, 2, 1])
        let bytes = [0x20, 1, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [7]
        #expect(IPAddress(bytes: bytes)?.description == "2001:db8::7")
        for count in 0...40 where count != 4 && count != 16 {
            #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
        }
    }

    @Test func aMappedAddressDiffersFromTheAddressInIt() throws {
        let mapped = try #require(IPAddress("::ffff:192.0.2.1"))
        let plain = try #require(IPAddress("192.0.2.1"))
        #expect(!mapped.isIPv4 && mapped != plain)
        #expect(mapped.unmapped == plain)
        #expect(mapped.bytes.count == 16)
        for text in ["192.0.2.1", "::192.0.2.1", "::fffe:c000:201", "64:ff9b::192.0.2.1", "::1"] {
            let address = try #require(IPAddress(text))
            #expect(address.unmapped == address, "\(text)")
        }
    }

    @Test func anIPv4AddressDiffersFromTheIPv6AddressWithItsNumber() {
        #expect(IPAddress(v4: 1) != IPAddress(v6: 0, 1))
        #expect(IPAddress(v4: 1) < IPAddress(v6: 0, 1))
    }

    @Test func addressesAreInTheOrderOfTheirNumbersIPv4First() {
        let inOrder = [
            "0.0.0.0", "9.255.255.255", "10.0.0.0", "255.255.255.255", "::", "::2", "::10",
            "::ffff:0.0.0.1", "1::", "2001:db8::", "2001:db8:0:0:ffff::", "ffff::",
        ].compactMap(IPAddress.init(canonical:))
        #expect(inOrder.count == 12)
        #expect(inOrder.reversed().sorted() == inOrder)
    }

    @Test(arguments: [
        ("192.0.2.77", "192.0.2.77", "192.0.2.0/24", "192.0.0.0/16"),
        ("::ffff:192.0.2.77", "192.0.2.77", "192.0.2.0/24", "192.0.0.0/16"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48", "2001:db8::/32"),
        ("::1", "::/64", "::/48", "::/32"),
    ])
    func anAddressHasAClientASiteAndARegion(
        text: String, client: String, site: String, region: String
    ) throws {
        let address = try #require(IPAddress(text))
        #expect(address.client.description == client)
        #expect(address.site.description == site)
        #expect(address.region.description == region)
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func whatIsWrittenIsReadAgain(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            // Few bits are set, so that runs of zeros of every length occur.
            let high = random.next() & random.next() & random.next() & random.next()
            let low = random.next() & random.next() & random.next() & random.next()
            for address in [
                IPAddress(v6: high, low), IPAddress(v4: UInt32(truncatingIfNeeded: low)),
                IPAddress(v6: 0, 0xffff << 32 | low >> 32),
            ] {
                #expect(IPAddress(canonical: address.description) == address, "\(address)")
                #expect(IPAddress(bytes: address.bytes) == address, "\(address)")
            }
        }
    }

    /// Reads random texts of the characters that addresses are made of, and changed addresses: none
    /// traps, and one that is read is the same when it is read from its canonical form.
    @Test(arguments: [31, 32] as [UInt64])
    func noTextTraps(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("0123456789abcdefABCDEF::::....%/[]xg \0-+\u{ff}".utf8)
        for round in 0..<20_000 {
            var bytes: [UInt8]
            if round % 2 == 0 {
                bytes = (0..<Int.random(in: 0...50, using: &random)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                }
            } else {
                let text = Self.canonical[Int.random(in: 0..<Self.canonical.count, using: &random)]
                bytes = Array(text.utf8)
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if let address = IPAddress(utf8: bytes) {
                #expect(IPAddress(canonical: address.description) == address)
                #expect(IPAddress(text) == address)
            }
            if let block = IPBlock(text) { #expect(IPBlock(block.description) == block) }
            if let socket = SocketAddress(text) {
                #expect(SocketAddress(socket.description) == socket)
            }
        }
    }
}
