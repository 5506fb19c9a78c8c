import Testing

@testable import Cryptography

@Suite struct ScryptTests {
    @Test func agreesWithThePublishedProofOfWork() throws {
        let salt = "0b980734412c292d6549110276b604ab1dea4883bd460d77d1b984adf8bca083"
        let digest = try Scrypt.hash(
            password: Array("jti-abc:123".utf8), salt: Array(salt.utf8),
            parameters: Scrypt.Parameters(n: 16_384, r: 8, p: 1, outputBytes: 64))
        #expect(digest.count == 64)
        #expect(Array(digest.prefix(2)) == [0x82, 0x5E])
    }

    @Test(arguments: [
        (0, 8, 1, 64), (1, 8, 1, 64), (-2, 8, 1, 64), (3, 8, 1, 64), (16_383, 8, 1, 64),
        (Int.max, 8, 1, 64), (1 << 62, 1, 1, 64), (Int.min, 8, 1, 64),
        (16, 0, 1, 64), (16, -1, 1, 64), (16, Int.max, 1, 64), (1 << 16, 9, 1, 64),
        (1 << 16, 1, 1, 64),
        (16, 8, 0, 64), (16, 8, -1, 64), (16, 8, 17, 64), (16, 8, Int.max, 64),
        (16, 8, 1, 0), (16, 8, 1, -1), (16, 8, 1, 1025), (16, 8, 1, Int.max),
    ])
    func costsOutsideTheBoundsAreRefused(n: Int, r: Int, p: Int, outputBytes: Int) {
        #expect(throws: CryptographyError.self) {
            try Scrypt.Parameters(n: n, r: r, p: p, outputBytes: outputBytes)
        }
    }

    @Test func theMemoryBoundIsInclusive() throws {
        let largest = try Scrypt.Parameters(n: 1 << 16, r: 8, p: 1, outputBytes: 1)
        #expect(128 * largest.n * largest.r == Scrypt.Parameters.maximumMemoryBytes)
    }
}
