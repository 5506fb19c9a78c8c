import Testing

@testable import HTTPEngine

@Suite struct ASCIITests {
    private static let alphanumeric =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    private func bytes(where isMember: (UInt8) -> Bool) -> Set<UInt8> {
        Set((0...255).map { UInt8($0) }.filter(isMember))
    }

    @Test func tokenCharactersAreThoseOfRFC9110() {
        let expected = Set((Self.alphanumeric + "!#$%&'*+-.^_`|~").utf8)
        #expect(bytes(where: ASCII.isToken) == expected)
    }

    @Test func targetCharactersAreThoseOfRFC3986() {
        let expected = Set((Self.alphanumeric + "-._~%!$&'()*+,;=:@/?").utf8)
        #expect(bytes(where: ASCII.isTarget) == expected)
    }

    @Test func hostCharactersAreThoseOfNames() {
        #expect(bytes(where: ASCII.isHostName) == Set((Self.alphanumeric + "-._~").utf8))
    }

    @Test func tabIsTheOnlyControlCharacterOfFieldValues() {
        let expected = Set((0x20...0xff).map { UInt8($0) }).subtracting([0x7f]).union([9])
        #expect(bytes(where: ASCII.isFieldValue) == expected)
    }

    @Test func aTextIsAFieldValueIfEveryByteIs() {
        #expect(ASCII.areFieldValue(""))
        #expect(ASCII.areFieldValue(String(repeating: "x", count: 100) + "\u{e9}"))
        for index in [0, 15, 16, 63, 99] {
            var bytes = [UInt8](repeating: 0x78, count: 100)
            bytes[index] = 0x0a
            #expect(!ASCII.areFieldValue(String(decoding: bytes, as: UTF8.self)))
        }
    }

    @Test func hexDigitsHaveTheirValues() {
        #expect(bytes { ASCII.hexValue($0) != nil } == Set("0123456789abcdefABCDEF".utf8))
        for value in 0..<16 {
            let text = String(value, radix: 16)
            #expect(text.utf8.first.flatMap(ASCII.hexValue) == UInt8(value))
            #expect(text.uppercased().utf8.first.flatMap(ASCII.hexValue) == UInt8(value))
        }
    }

    @Test func onlyCapitalsAreLowered() {
        for byte in UInt8.min...UInt8.max {
            let isCapital = (0x41...0x5a).contains(byte)
            #expect(ASCII.lowered(byte) == (isCapital ? byte + 32 : byte))
        }
        #expect(ASCII.equalIgnoringCase("Content-Type", "content-TYPE"))
        #expect(!ASCII.equalIgnoringCase("[", "{"))
        #expect(!ASCII.equalIgnoringCase("a", "ab"))
    }
}
