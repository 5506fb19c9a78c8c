import Testing

@testable import HTTPEngine

@Suite struct OctetTests {
    private static let alphanumeric =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    private func octets(where isMember: (UInt8) -> Bool) -> Set<UInt8> {
        Set((0...255).map { UInt8($0) }.filter(isMember))
    }

    @Test func tokensAreOfTheCharactersOfRFC9110() {
        let expected = Set((Self.alphanumeric + "!#$%&'*+-.^_`|~").utf8)
        #expect(octets(where: Octet.isToken) == expected)
    }

    @Test func targetsAreOfTheCharactersOfRFC3986() {
        let expected = Set((Self.alphanumeric + "-._~%!$&'()*+,;=:@/?").utf8)
        #expect(octets(where: Octet.isTarget) == expected)
    }

    @Test func hostsAreOfNameCharacters() {
        #expect(octets(where: Octet.isHostName) == Set((Self.alphanumeric + "-._~").utf8))
    }

    @Test func fieldValuesHaveNoControlCharacterButTab() {
        let expected = Set((0x20...0xff).map { UInt8($0) }).subtracting([0x7f]).union([9])
        #expect(octets(where: Octet.isFieldValue) == expected)
    }

    @Test func aTextIsAFieldValueIfAllOfItIs() {
        #expect(Octet.areFieldValue(""))
        #expect(Octet.areFieldValue(String(repeating: "x", count: 100) + "\u{e9}"))
        for index in [0, 15, 16, 63, 99] {
            var octets = [UInt8](repeating: 0x78, count: 100)
            octets[index] = 0x0a
            #expect(!Octet.areFieldValue(String(decoding: octets, as: UTF8.self)))
        }
    }

    @Test func hexDigitsHaveTheirValues() {
        #expect(octets { Octet.hexValue($0) != nil } == Set("0123456789abcdefABCDEF".utf8))
        for value in 0..<16 {
            let text = String(value, radix: 16)
            #expect(text.utf8.first.flatMap(Octet.hexValue) == UInt8(value))
            #expect(text.uppercased().utf8.first.flatMap(Octet.hexValue) == UInt8(value))
        }
    }

    @Test func onlyCapitalsAreLowered() {
        for byte in UInt8.min...UInt8.max {
            let isCapital = (0x41...0x5a).contains(byte)
            #expect(Octet.lowered(byte) == (isCapital ? byte + 32 : byte))
        }
        #expect(Octet.equalIgnoringCase("Content-Type", "content-TYPE"))
        #expect(!Octet.equalIgnoringCase("[", "{"))
        #expect(!Octet.equalIgnoringCase("a", "ab"))
    }
}
