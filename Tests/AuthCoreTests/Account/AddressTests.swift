import AuthCore
import TestSupport
import Testing

struct AddressTests {
    @Test(arguments: [
        ("alice@mail.test", "alice@mail.test"),
        (" \tAlice.B_c-d@Mail.TEST\r\n", "alice.b_c-d@mail.test"),
        ("a+b@x", "a+b@x"),
        ("0@0", "0@0"),
    ])
    func isTrimmedAndLowered(text: String, normal: String) {
        #expect(Address(parsing: text)?.description == normal)
    }

    @Test(arguments: [
        "", "@", "a@", "@b", "a@b@c", "a b@c", "a\u{0}b@c", "a\n@c", ".a@c", "a.@c", "a..b@c",
        "ä@c", "a@ä.de", "a@-b.c", "a@b-.c", "a@b..c", "a@.b", "a@b.", "a@b_c", "\"a\"@b",
        "a@[127.0.0.1]", "\u{212A}elvin@mail.test", "a\u{200B}@c", "a@b\u{3002}c", "a/b@c",
    ])
    func whatIsNoAddressIsRefused(text: String) {
        #expect(Address(parsing: text) == nil)
    }

    @Test func lengthsAreBounded() {
        let label = String(repeating: "d", count: 63)
        let longest = [label, label, label, String(repeating: "d", count: 61)]
            .joined(separator: ".")
        #expect(longest.utf8.count == 253)
        #expect(Domain(parsing: longest) != nil)
        #expect(Domain(parsing: longest + "d") == nil)
        #expect(Domain(parsing: label + "d.x") == nil)
        #expect(LocalPart(parsing: String(repeating: "a", count: 64)) != nil)
        #expect(LocalPart(parsing: String(repeating: "a", count: 65)) == nil)
    }

    @Test func arbitraryBytesNeverTrap() {
        let random = SeededBytes(seed: 42)
        for _ in 0..<5000 {
            let bytes = random.make(random.below(32))
            let text = String(decoding: bytes, as: UTF8.self)
            if let address = Address(parsing: text) {
                #expect(Address(parsing: address.description) == address)
            }
        }
    }
}
