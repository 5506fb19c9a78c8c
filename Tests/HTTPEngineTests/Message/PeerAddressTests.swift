import TestPrimitives
import Testing

@testable import HTTPEngine

@Suite struct PeerAddressTextTests {
    @Test(arguments: [11, 12, 13] as [UInt64])
    func anAddressIsReadAsItIsWritten(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            // Few set bits, so that runs of zeros of every length occur.
            let high = random.next() & random.next() & random.next() & random.next()
            let low = random.next() & random.next() & random.next() & random.next()
            for address in [
                PeerAddress(v6: high, low), PeerAddress(v4: UInt32(truncatingIfNeeded: low)),
            ] {
                #expect(PeerAddress(address: address.text) == address, "\(address.text)")
            }
        }
    }

    @Test(arguments: [21, 22] as [UInt64])
    func theFirstBitsAreKeptAndTheOthersCleared(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            for address in [
                PeerAddress(v6: random.next() | 1 << 63, random.next(), port: 7),
                PeerAddress(v4: UInt32(truncatingIfNeeded: random.next()), port: 7),
            ] {
                for count in 0...address.width {
                    let bits = address.bytes.flatMap { byte in
                        (0..<8).map { byte >> (7 - $0) & 1 }
                    }
                    let kept = address.first(count).bytes.flatMap { byte in
                        (0..<8).map { byte >> (7 - $0) & 1 }
                    }
                    #expect(kept == bits.enumerated().map { $0 < count ? $1 : 0 })
                    #expect(address.first(count).port == 0)
                }
            }
        }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("192.0.2.1:65535", "192.0.2.1"),
        ("192.0.2.1:_a-b.c", "192.0.2.1"),
        ("[2001:db8::1]", "2001:db8::1"), ("[2001:db8::1]:1", "2001:db8::1"),
        ("[::ffff:192.0.2.1]", "192.0.2.1"),
    ])
    func aNodeIsAnAddressWithOrWithoutAPort(node: String, text: String) {
        #expect(PeerAddress(node: node, bracketed: true)?.text == text)
        #expect(PeerAddress(node: node, bracketed: false)?.text == text)
    }

    @Test func aBareIPv6AddressIsOneWhereBracketsAreNotAskedFor() {
        #expect(PeerAddress(node: "2001:db8::1", bracketed: false)?.text == "2001:db8::1")
        #expect(PeerAddress(node: "2001:db8::1", bracketed: true) == nil)
    }

    @Test(arguments: [
        "", ":", "[", "]", "[]", "[]:1", "[1.2.3.4]", "[::1", "::1]", "[::1]]", "[[::1]]", "[::1]:",
        "[::1]:65536", "[::1] :1", "1.2.3.4:", "1.2.3.4:-1", "1.2.3.4: 1", "1.2.3.4:1:",
        "1.2.3.4:_",
        "1.2.3.4:_a/b", "1.2.3.4:1x", " 1.2.3.4", "1.2.3.4 ", "1.2.3.4\0", "_hidden", "unknown",
    ])
    func whatIsNoNodeIsRefused(node: String) {
        #expect(PeerAddress(node: node, bracketed: true) == nil)
        #expect(PeerAddress(node: node, bracketed: false) == nil)
    }
}
