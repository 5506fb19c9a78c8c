import Cryptography
import TestPrimitives
import TestSupport
import Testing

/// ES256 and EdDSA keys, private and public.
@Suite struct EllipticCurveKeyTests {
    /// A published example, and the key of the other example.
    struct Example: Sendable, CustomTestStringConvertible {
        let algorithm: SignatureAlgorithm
        let name: String
        let other: String

        var testDescription: String { name }

        func record() throws -> VectorFile.Record {
            try #require(try VectorFile.records("\(name).txt").first)
        }

        func key() throws -> PrivateKey {
            try PrivateKey(pkcs8DER: try record().bytes("pkcs8"))
        }

        func parameters() throws -> PublicKey.Parameters {
            let x = try record().base64URL("x")
            return algorithm == .edDSA
                ? .ed25519(x: x) : .p256(x: x, y: try record().base64URL("y"))
        }
    }

    static let examples = [
        Example(algorithm: .es256, name: "rfc7515-a3", other: "rfc8037-a4"),
        Example(algorithm: .edDSA, name: "rfc8037-a4", other: "rfc7515-a3"),
    ]

    @Test(arguments: examples)
    func thePublishedExampleIsValid(example: Example) throws {
        let (record, key) = (try example.record(), try example.key())
        #expect(key.algorithm == example.algorithm)
        #expect(try key.publicKey.parameters == example.parameters())
        let message = Array(try record.text("input").utf8)
        #expect(try key.publicKey.isValid(record.base64URL("signature"), for: message))
        let pem = try VectorFile.contents("\(example.name).pem")
        #expect(key.publicKey.pem == pem)
        #expect(try PublicKey(pem: pem).parameters == example.parameters())
        #expect(try PublicKey(pem: pem).algorithm == example.algorithm)
    }

    /// Ed25519 is deterministic (RFC 8032 §8.2), ECDSA is not.
    @Test func ed25519SignsAsThePublishedExample() throws {
        let example = Self.examples[1]
        let signature = try example.key().sign(Array(example.record().text("input").utf8))
        #expect(try signature == example.record().base64URL("signature"))
    }

    /// Each number has 32 bytes, also when it begins with zeros, which OpenSSL leaves out in its
    /// own form: of 600 signatures some do, but for a chance of one in a hundred.
    @Test(arguments: examples)
    func aSignatureHas64BytesAndIsValid(example: Example) throws {
        let key = try example.key()
        for number in 0..<600 {
            let message = [UInt8(number & 0xFF), UInt8(number >> 8)]
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(key.publicKey.isValid(signature, for: message))
        }
    }

    @Test(arguments: examples)
    func theExportedKeyIsTheSameKey(example: Example) throws {
        let key = try example.key()
        #expect(try key.pkcs8DER == example.record().bytes("pkcs8"))
        let generated = try PrivateKey.generate(example.algorithm)
        let again = try PrivateKey(pkcs8DER: generated.pkcs8DER)
        #expect(again.publicKey.parameters == generated.publicKey.parameters)
        #expect(try generated.publicKey.isValid(again.sign([1]), for: [1]))
        #expect(generated.publicKey.parameters != key.publicKey.parameters)
    }

    @Test(arguments: examples)
    func changedSignaturesAndMessagesAreRefused(example: Example) throws {
        let key = try example.key().publicKey
        let message = Array(try example.record().text("input").utf8)
        let signature = try example.record().base64URL("signature")
        for bit in stride(from: 0, to: signature.count * 8, by: 5) {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.isValid(changed, for: message))
        }
        #expect(!key.isValid(signature, for: message + [0]))
        #expect(!key.isValid(signature, for: []))
    }

    @Test(arguments: examples)
    func signaturesOfAnotherFormAreRefused(example: Example) throws {
        let key = try example.key().publicKey
        let message = Array(try example.record().text("input").utf8)
        let signature = try example.record().base64URL("signature")
        // As OpenSSL writes an ECDSA signature: both numbers of the example begin with a bit of 0
        // and of 1, and so have 32 and 33 bytes.
        let (r, s) = (signature.prefix(32), signature.suffix(32))
        let der = [0x30, 69, 2, 32] + r + [2, 33, 0] + s
        for other in [
            [], Array(signature.dropLast()), signature + [0], [0] + signature, der,
            [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 64),
            Array(s + r),
        ] { #expect(!key.isValid(other, for: message)) }
    }

    @Test(arguments: examples)
    func anotherKeyRefusesTheSignature(example: Example) throws {
        let message = Array(try example.record().text("input").utf8)
        let signature = try example.record().base64URL("signature")
        let same = try PrivateKey.generate(example.algorithm).publicKey
        #expect(!same.isValid(signature, for: message))
        let other = try #require(Self.examples.first { $0.name == example.other }).key().publicKey
        #expect(!other.isValid(signature, for: message))
    }

    @Test(arguments: examples)
    func aPrefixOrAnExtensionOfAKeyIsNotAKeyAndChangedBytesNeverTrap(example: Example) throws {
        let der = try example.record().bytes("pkcs8")
        for count in 0..<der.count {
            #expect(throws: CryptographyError.malformedKey) {
                try PrivateKey(pkcs8DER: Array(der.prefix(count)))
            }
        }
        #expect(throws: CryptographyError.malformedKey) { try PrivateKey(pkcs8DER: der + [0]) }
        var generator = SeededGenerator(seed: 8037)
        for _ in 0..<300 {
            var changed = der
            changed[Int.random(in: 0..<der.count, using: &generator)] = .random(
                in: 0...255, using: &generator)
            guard let key = try? PrivateKey(pkcs8DER: changed) else { continue }
            #expect(try key.sign([1]).count == 64)
        }
    }

    @Test(arguments: examples)
    func manyTasksSignWithOneKeyAtOnce(example: Example) async throws {
        let key = try example.key()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<4 {
                group.addTask {
                    try (0..<50).allSatisfy { number in
                        let message = [UInt8(task), UInt8(number)]
                        return try key.publicKey.isValid(key.sign(message), for: message)
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
