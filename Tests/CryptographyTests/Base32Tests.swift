import TestPrimitives
import Testing

@testable import Cryptography

@Suite struct Base32Tests {
    /// RFC 4648 §10, without the padding.
    @Test func agreesWithRFC4648() {
        for (text, encoded) in [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
        ] {
            #expect(Base32.encode(Array(text.utf8)) == encoded)
            #expect(Base32.decode(encoded.utf8) == Array(text.utf8))
        }
    }

    @Test func everyTextHasOneMeaningAndEveryMeaningOneText() {
        for text in ["M", "MZX", "MZXW6Y", "MZ", "my", "MY======", "MY ", "M1", "M8", "M0", "MYY"] {
            #expect(Base32.decode(text.utf8) == nil)
        }
        var generator = SeededGenerator(seed: 4648)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Base32.decode(Base32.encode(bytes).utf8) == bytes)
        }
    }
}
