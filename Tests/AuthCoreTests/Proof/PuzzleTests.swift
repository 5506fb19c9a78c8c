import AuthCore
import Cryptography
import TestSupport
import Testing

struct PuzzleTests {
    @Test func theSaltIsUsedAsTheTextItIs() throws {
        let puzzle = Puzzle.scrypt(
            parameters: try Scrypt.Parameters(n: 16384, r: 8, p: 1, outputBytes: 64),
            salt: AgentWorld.salt)
        let digest = try puzzle.digest(challenge: "jti-abc", nonce: Nonce(123))
        #expect(Hex.encode(digest).hasPrefix("825e"))
        #expect(digest.count == 64)
    }

    @Test(
        arguments: [
            ([], 0), ([0xff], 0), ([0x80], 0), ([0x7f], 1), ([0x01], 7), ([0, 0xff], 8),
            ([0, 0x3f, 0], 10), ([0, 0], 16),
        ] as [([UInt8], Int)])
    func leadingZeroBitsAreCountedFromTheTop(bytes: [UInt8], bits: Int) {
        #expect(leadingZeroBits(bytes) == bits)
    }

    @Test func aNonceIsPrintableASCIIOrAnInteger() {
        #expect(Nonce("0")?.text == "0")
        #expect(Nonce(String(repeating: "~", count: 64)) != nil)
        #expect(Nonce(String(repeating: "~", count: 65)) == nil)
        #expect(Nonce("") == nil)
        #expect(Nonce("a\nb") == nil)
        #expect(Nonce("é") == nil)
        #expect(Nonce(Int64.min).text == "-9223372036854775808")
    }
}
