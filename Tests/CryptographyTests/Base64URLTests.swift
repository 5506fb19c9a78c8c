import Cryptography
import TestPrimitives
import Testing

@Suite struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
        ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
    ])
    func agreesWithRFC4648Section10WithoutPadding(raw: String, encoded: String) {
        #expect(Base64URL.encode(Array(raw.utf8)) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == Array(raw.utf8))
    }

    @Test func usesTheURLSafeAlphabet() {
        #expect(Base64URL.encode([0xFB, 0xFF, 0xFE]) == "-__-")
        #expect(Base64URL.decode("-__-".utf8) == [0xFB, 0xFF, 0xFE])
    }

    @Test(arguments: [
        "A", "AAAAA", "Zg==", "Zm8=", "=", "Zg=", "Zm9v\n", " Zm9v", "Zm 9v", "+__+", "-//-",
        "Zm9v\u{0}", "Zmé", "Z.g", "Zm9v=",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test(arguments: ["Zh", "Zv", "Z_", "Zm9", "Zm_", "AB", "AAB"])
    func trailingBitsThatAreNotZeroAreRefused(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test func appendingWritesTheSameAsEncoding() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            var text = Array("x.".utf8)
            Base64URL.append(bytes, to: &text)
            #expect(text == Array("x.\(Base64URL.encode(bytes))".utf8))
        }
    }

    @Test func readsCollectionsThatAreNotContiguous() {
        #expect(Base64URL.decode("Zm9v".utf8.lazy.map { $0 }) == Array("foo".utf8))
        #expect(Base64URL.decode("xxZm9vyy".utf8.dropFirst(2).dropLast(2)) == Array("foo".utf8))
    }

    @Test func everyAcceptedTextIsItsOwnEncoding() {
        var generator = SeededGenerator(seed: 4648)
        let alphabet = Array("AQgwZ_-019az=+/ \n".utf8)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0..<12, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            guard let bytes = Base64URL.decode(text) else { continue }
            #expect(Array(Base64URL.encode(bytes).utf8) == text)
        }
    }

    @Test func arbitraryBytesNeverTrapAndAreDecodedAgain() {
        var generator = SeededGenerator(seed: 7515)
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0..<90, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            _ = Base64URL.decode(bytes)
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
    }
}

@Suite struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zg", "f"), ("Zm8=", "fo"), ("Zm8", "fo"), ("Zm9v", "foo"),
        ("Zm9vYg==", "foob"), ("Zm9vYmFy", "foobar"),
    ])
    func paddingMayBeLeftOut(encoded: String, raw: String) {
        #expect(Base64.decode(encoded.utf8) == Array(raw.utf8))
    }

    @Test func usesTheStandardAlphabet() {
        #expect(Base64.decode("+//+".utf8) == [0xFB, 0xFF, 0xFE])
        #expect(Base64.decode("-__-".utf8) == nil)
    }

    @Test(arguments: [
        "A", "Zg=", "Z===", "====", "=", "Zm9v=", "Zm9v====", "Zh==", "Zm 9v", "Zg==Zg==",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    /// RFC 4648 §10, and the two characters that the URL-safe alphabet lacks.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func theStandardAlphabetHasPadding(raw: String, encoded: String) {
        #expect(Base64.encode(Array(raw.utf8)) == encoded)
        #expect(Base64.decode(encoded.utf8) == Array(raw.utf8))
        #expect(Base64.encode([0xfb, 0xff, 0xfe]) == "+//+")
    }
}
