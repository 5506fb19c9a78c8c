import TestSupport
import Testing

@testable import AuthCore

struct AddressTests {
    @Test(arguments: [
        ("alice@mail.test", "alice@mail.test"),
        (" \tAlice.B_c-d@Mail.TEST\r\n", "alice.b_c-d@mail.test"),
        ("a+b@x", "a+b@x"),
        ("0@0", "0@0"),
    ])
    func anAddressIsTrimmedAndLowerCased(text: String, normal: String) {
        #expect(Address(parsing: text)?.description == normal)
    }

    @Test(arguments: [
        "", "@", "a@", "@b", "a@b@c", "a b@c", "a\u{0}b@c", "a\n@c", ".a@c", "a.@c", "a..b@c",
        "ä@c", "a@ä.de", "a@-b.c", "a@b-.c", "a@b..c", "a@.b", "a@b.", "a@b_c", "\"a\"@b",
        "a@[127.0.0.1]", "\u{212A}elvin@mail.test", "a\u{200B}@c", "a@b\u{3002}c", "a/b@c",
    ])
    func anythingElseIsNotAnAddress(text: String) {
        #expect(Address(parsing: text) == nil)
    }

    @Test func lengthsAreLimited() {
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

    @Test(arguments: [
        ("127.0.0.1", true), ("256.1", true), ("mail.1", true), ("1", true),
        ("127.0x1", true), ("mail.0x7F", true), ("mail.0x", true), ("mail.0xg", false),
        ("1.test", false), ("mail.1a", false), ("mail.test", false),
    ])
    func aDomainWhoseLastLabelIsANumberIsRecognised(text: String, endsInNumber: Bool) throws {
        #expect(try #require(Domain(parsing: text)).endsInNumber == endsInNumber)
    }

    @Test func theTextOfAnAddressIsParsedAsTheSameAddress() {
        // Bytes from which an address is made often enough, and others, which must not trap.
        let alphabet = Array("aZ09._-+@@ \t\u{0}\u{e4}\u{212A}".utf8)
        let random = SeededBytes(seed: 42)
        var parsed = 0
        for _ in 0..<60_000 {
            let bytes = random.make(random.below(12)).map { alphabet[Int($0) % alphabet.count] }
            guard let address = Address(parsing: String(decoding: bytes, as: UTF8.self)) else {
                continue
            }
            parsed += 1
            #expect(Address(parsing: address.description) == address)
        }
        #expect(parsed > 20)
    }
}
