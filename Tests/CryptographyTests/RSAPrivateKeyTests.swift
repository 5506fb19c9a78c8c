import TestPrimitives
import TestSupport
import Testing

@testable import Cryptography

@Suite struct RSAPrivateKeyTests {
    private func example() throws -> (key: PrivateKey, record: VectorFile.Record) {
        let record = try #require(try VectorFile.records("rfc7515-a2.txt").first)
        return (try PrivateKey(pkcs8DER: try record.bytes("pkcs8")), record)
    }

    private struct NotRSA: Error {}

    @Test func agreesWithRFC7515AppendixA2() throws {
        let (key, record) = try example()
        let signature = try key.sign(Array(try record.text("input").utf8))
        #expect(Base64URL.encode(signature) == (try record.text("signature")))
        #expect(
            try key.publicKey.parameters
                == .rsa(
                    modulus: record.base64URL("modulus"), exponent: record.base64URL("exponent")))
    }

    @Test func theExportedKeyIsTheSameKey() throws {
        let (key, record) = try example()
        #expect(try key.pkcs8DER == record.bytes("pkcs8"))
        #expect(try PrivateKey(pkcs8DER: key.pkcs8DER).sign([1]) == key.sign([1]))
    }

    @Test func aGeneratedKeySignsWhatItsPublicKeyAccepts() throws {
        let key = try PrivateKey.generate(.rs256)
        let signature = try key.sign(Array("message".utf8))
        #expect(signature.count == 256)
        #expect(key.publicKey.isValid(signature, for: Array("message".utf8)))
        guard case .rsa(_, let exponent) = key.publicKey.parameters else { throw NotRSA() }
        #expect(exponent == [1, 0, 1])
        #expect(
            try PrivateKey.generate(.rs256).publicKey.parameters != key.publicKey.parameters)
    }

    @Test(arguments: [-1, 0, 512, 1024, 2047, 8193, Int.max])
    func sizesOutsideTheBoundsAreNotGenerated(bits: Int) {
        #expect(throws: CryptographyError.unacceptableKeySize(bits: bits)) {
            try PrivateKey.generateRSA(bits: bits)
        }
    }

    @Test func weakAndForeignKeysAreRefused() throws {
        let records = try VectorFile.records("refused-keys.txt")
        #expect(throws: CryptographyError.unacceptableKeySize(bits: 1024)) {
            try PrivateKey(pkcs8DER: records[0].bytes("pkcs8"))
        }
        #expect(records.count == 6)
        for foreign in records.dropFirst() {
            #expect(throws: CryptographyError.malformedKey) {
                try PrivateKey(pkcs8DER: foreign.bytes("pkcs8"))
            }
        }
    }

    @Test func aPrefixOrAnExtensionOfAKeyIsNotAKey() throws {
        let der = try example().record.bytes("pkcs8")
        for count in stride(from: 0, to: der.count, by: 7) {
            #expect(throws: CryptographyError.malformedKey) {
                try PrivateKey(pkcs8DER: Array(der.prefix(count)))
            }
        }
        #expect(throws: CryptographyError.malformedKey) {
            try PrivateKey(pkcs8DER: der + [0])
        }
    }

    @Test func changedBytesNeverTrap() throws {
        let der = try example().record.bytes("pkcs8")
        var generator = SeededGenerator(seed: 8017)
        for _ in 0..<300 {
            var changed = der
            changed[Int.random(in: 0..<40, using: &generator)] = .random(
                in: 0...255, using: &generator)
            guard let key = try? PrivateKey(pkcs8DER: changed) else { continue }
            guard case .rsa(let modulus, _) = key.publicKey.parameters else { throw NotRSA() }
            #expect(modulus.count >= 256)
        }
    }

    @Test func manyTasksSignWithOneKeyAtOnce() async throws {
        let key = try example().key
        let expected = try (0..<4).map { try key.sign([UInt8($0)]) }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try (0..<20).allSatisfy { try key.sign([UInt8($0 % 4)]) == expected[$0 % 4] }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func printsNothingOfTheKey() throws {
        let key = try example().key
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "PrivateKey(<redacted>)")
        #expect(!dumped.contains("address"))
    }
}
