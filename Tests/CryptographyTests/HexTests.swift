import Cryptography
import Testing

@Suite struct HexTests {
    @Test func writesLowerCase() {
        #expect(Hex.encode([0x00, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hex.encode([]) == "")
    }

    @Test func readsEitherCase() {
        #expect(Hex.decode("000fA5fF".utf8) == [0x00, 0x0F, 0xA5, 0xFF])
        #expect(Hex.decode("".utf8) == [])
    }

    @Test(arguments: ["0", "abc", "0g", "g0", " 0", "0x", "+1", "-1", "éa", "０0"])
    func anythingElseIsRefused(text: String) {
        #expect(Hex.decode(text.utf8) == nil)
    }

    @Test func everyByteIsDecodedAgain() {
        let all = (UInt8.min...UInt8.max).map { $0 }
        #expect(Hex.decode(Hex.encode(all).utf8) == all)
    }

    @Test func onlyTheTwentyTwoDigitsAreDigits() {
        let accepted = (UInt8.min...UInt8.max).filter {
            Hex.decode([UInt8(ascii: "0"), $0]) != nil
        }
        #expect(accepted == Array("0123456789ABCDEFabcdef".utf8))
    }
}
