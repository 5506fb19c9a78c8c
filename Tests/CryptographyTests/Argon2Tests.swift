import TestSupport
import Testing

@testable import Cryptography

@Suite struct Argon2Tests {
    @Test(
        arguments: Argon2.Implementation.allCases.filter(\.isSupported),
        try VectorFile.records("argon2.txt"))
    func agreesWithRFC9106AndThePublishedExample(
        implementation: Argon2.Implementation, record: VectorFile.Record
    ) throws {
        let expected = try record.bytes("tag")
        let tag = try Argon2.hash(
            password: record.bytes("password"), salt: record.bytes("salt"),
            secret: record.bytes("secret"), associated: record.bytes("associated"),
            iterations: record.number("iterations"), memoryKiB: record.number("memory"),
            parallelism: record.number("parallelism"), outputBytes: expected.count,
            variant: record.text("variant") == "argon2i" ? .argon2i : .argon2id,
            kernel: .using(implementation))
        #expect(tag == expected)
    }

    @Test func thePublicFunctionAgreesWithThePublishedExample() throws {
        let tag = try Argon2.hash(
            password: Array("password123".utf8),
            salt: SHA256.digest(Array("alice@mail.td".utf8)),
            iterations: 3, memoryKiB: 16_384, parallelism: 1, outputBytes: 32, variant: .argon2id)
        #expect(
            Hex.encode(tag) == "2d0b5b1cd63138ba6e5b13777000e55b5dcd8ab4286f16d2fdd3aae8948c6bcf")
    }

    private func hash(
        password: [UInt8] = [1], salt: Int = 16, iterations: Int = 1, memoryKiB: Int = 64,
        parallelism: Int = 1, outputBytes: Int = 32, variant: Argon2.Variant = .argon2id
    ) throws -> [UInt8] {
        try Argon2.hash(
            password: password, salt: [UInt8](repeating: 2, count: salt), iterations: iterations,
            memoryKiB: memoryKiB, parallelism: parallelism, outputBytes: outputBytes,
            variant: variant)
    }

    @Test func everyInputChangesTheTag() throws {
        let tags = try [
            hash(), hash(password: []), hash(password: [1, 0]), hash(salt: 17),
            hash(iterations: 2), hash(memoryKiB: 72), hash(parallelism: 2), hash(variant: .argon2i),
            Array(hash(outputBytes: 33).prefix(32)),
        ]
        #expect(Set(tags).count == tags.count)
        #expect(try hash() == hash())
    }

    @Test(arguments: [Int.min, -1, 0, Int.max])
    func costsOutsideTheBoundsAreRefused(value: Int) {
        #expect(throws: CryptographyError.self) { try hash(iterations: value) }
        #expect(throws: CryptographyError.self) { try hash(memoryKiB: value) }
        #expect(throws: CryptographyError.self) { try hash(parallelism: value) }
        #expect(throws: CryptographyError.self) { try hash(outputBytes: value) }
    }

    @Test func eightBlocksPerLaneAreTheMinimum() throws {
        #expect(throws: CryptographyError.parameterOutOfBounds("Argon2 memory")) {
            try hash(memoryKiB: 15, parallelism: 2)
        }
        #expect(try hash(memoryKiB: 16, parallelism: 2).count == 32)
    }

    @Test func saltsOutsideTheBoundsAreRefused() throws {
        #expect(throws: CryptographyError.self) { try hash(salt: 7) }
        #expect(throws: CryptographyError.self) { try hash(salt: 65) }
        #expect(try hash(salt: 8) != hash(salt: 64))
    }
}
