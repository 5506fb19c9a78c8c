import AuthCore
import Cryptography
import TestSupport
import Testing

struct PuzzleTests {
    @Test func scryptTakesTheSaltAsItsHexText() throws {
        let puzzle = Puzzle.scrypt(
            parameters: try Scrypt.Parameters(n: 16384, r: 8, p: 1, outputBytes: 64),
            salt: AgentWorld.salt)
        let digest = try puzzle.digest(challenge: "jti-abc", nonce: Nonce(123))
        #expect(Hex.encode(digest).hasPrefix("825e"))
        #expect(digest.count == 64)
    }

    @Test func eachAttemptOfABatchHasTheDigestThatItHasAlone() throws {
        let parameters = try [(2, 1), (4, 2)].map {
            try Scrypt.Parameters(n: $0, r: $1, p: 1, outputBytes: 64)
        }
        let attempts = (0..<40).map { number in
            let puzzle: Puzzle =
                number % 3 == 2
                ? .sha256(salt: "0b98")
                : .scrypt(parameters: parameters[number % 3], salt: "salt \(number % 4)")
            return Puzzle.Attempt(puzzle, challenge: "jti-\(number)", nonce: Nonce(number % 7))
        }
        let together = try Puzzle.digests(of: attempts).map { try $0.get() }
        let alone = try attempts.map {
            try $0.puzzle.digest(challenge: $0.challenge, nonce: $0.nonce)
        }
        #expect(together == alone)
        #expect(Set(together).count > 20)
    }

    @Test(arguments: ["0b98", "0B98"])
    func sha256TakesTheReadingOfItsSaltWithMoreLeadingZeros(salt: String) throws {
        let puzzle = Puzzle.sha256(salt: salt)
        var readings: Set<Bool> = []
        for number in 0..<64 {
            let nonce = Nonce(Int64(number))
            let text = SHA256.digest(Array((salt + nonce.text).utf8))
            let bytes = SHA256.digest([0x0b, 0x98] + Array(nonce.text.utf8))
            let digest = try puzzle.digest(challenge: "not hashed", nonce: nonce)
            #expect([text, bytes].contains(digest))
            #expect(
                leadingZeroBits(digest) == max(leadingZeroBits(text), leadingZeroBits(bytes)))
            readings.insert(digest == text)
        }
        #expect(readings.count == 2)
    }

    @Test func aSolutionOfOneReadingIsEnough() throws {
        let salt = "00ff10"
        let puzzle = Puzzle.sha256(salt: salt)
        for prefix in [Array(salt.utf8), [0x00, 0xff, 0x10]] {
            let solution = try #require(
                (0..<100_000).lazy.map { Nonce(Int64($0)) }.first {
                    leadingZeroBits(SHA256.digest(prefix + Array($0.text.utf8))) >= 10
                })
            let digest = try puzzle.digest(challenge: "", nonce: solution)
            #expect(leadingZeroBits(digest) >= 10)
        }
    }

    @Test(arguments: ["", "0", "xyz", "0b9"])
    func aSaltThatIsNotHexHasOneReading(salt: String) throws {
        let digest = try Puzzle.sha256(salt: salt).digest(challenge: "", nonce: Nonce(7))
        #expect(digest == SHA256.digest(Array("\(salt)7".utf8)))
    }

    @Test(
        arguments: [
            ([], 0), ([0xff], 0), ([0x80], 0), ([0x7f], 1), ([0x01], 7), ([0, 0xff], 8),
            ([0, 0x3f, 0], 10), ([0, 0], 16),
        ] as [([UInt8], Int)])
    func leadingZeroBitsAreCountedFromTheMostSignificantBit(bytes: [UInt8], bits: Int) {
        #expect(leadingZeroBits(bytes) == bits)
    }

    @Test func aNonceIsPrintableASCIIOrAnInteger() {
        #expect(Nonce("0")?.text == "0")
        #expect(Nonce(String(repeating: "~", count: 64)) != nil)
        #expect(Nonce(String(repeating: "~", count: 65)) == nil)
        #expect(Nonce("") == nil)
        #expect(Nonce(String(repeating: "~", count: 128), atMost: Nonce.accountBytes) != nil)
        #expect(Nonce(String(repeating: "~", count: 129), atMost: Nonce.accountBytes) == nil)
        #expect(Nonce("", atMost: Nonce.accountBytes) == nil)
        #expect(Nonce("a\u{7f}", atMost: Nonce.accountBytes) == nil)
        #expect(Nonce("a\nb") == nil)
        #expect(Nonce("é") == nil)
        #expect(Nonce(Int64.min).text == "-9223372036854775808")
    }
}
