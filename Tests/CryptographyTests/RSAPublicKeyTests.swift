import Cryptography
import TestSupport
import Testing

@Suite struct RSAPublicKeyTests {
    private func record() throws -> VectorFile.Record {
        try #require(try VectorFile.records("rfc7515-a2.txt").first)
    }

    private func key() throws -> PublicKey {
        let record = try record()
        return try PublicKey(
            modulus: record.base64URL("modulus"), exponent: record.base64URL("exponent"))
    }

    @Test func verifiesRFC7515AppendixA2() throws {
        let record = try record()
        let signature = try record.base64URL("signature")
        #expect(try key().isValid(signature, for: Array(record.text("input").utf8)))
    }

    @Test func theTextOfAKeyIsTheSameAsOfAnotherImplementation() throws {
        let pem = try VectorFile.contents("rfc7515-a2.pem")
        #expect(try key().pem == pem)
        #expect(try PublicKey(pem: pem).parameters == key().parameters)
    }

    @Test func changedSignaturesAndMessagesAreRefused() throws {
        let (record, key) = (try record(), try key())
        let message = Array(try record.text("input").utf8)
        let signature = try record.base64URL("signature")
        for bit in stride(from: 0, to: signature.count * 8, by: 13) {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.isValid(changed, for: message))
        }
        #expect(!key.isValid(signature, for: message + [0]))
        #expect(!key.isValid(signature, for: []))
    }

    @Test func signaturesOfAnotherLengthAreRefused() throws {
        let (record, key) = (try record(), try key())
        let message = Array(try record.text("input").utf8)
        let signature = try record.base64URL("signature")
        #expect(!key.isValid([], for: message))
        #expect(!key.isValid(Array(signature.dropLast()), for: message))
        #expect(!key.isValid(signature + [0], for: message))
        #expect(!key.isValid([0] + signature, for: message))
        #expect(!key.isValid([UInt8](repeating: 0, count: 256), for: message))
    }

    @Test func anotherKeyRefusesTheSignature() throws {
        let record = try record()
        let other = try PrivateKey.generate(.rs256).publicKey
        let signature = try record.base64URL("signature")
        #expect(try !other.isValid(signature, for: Array(record.text("input").utf8)))
    }

    @Test func weakAndForeignKeysAreRefused() throws {
        let (weak, foreign) = (
            try VectorFile.contents("rsa-1024.pem"), try VectorFile.contents("ec-p384.pem")
        )
        #expect(throws: CryptographyError.unacceptableKeySize(bits: 1024)) {
            try PublicKey(pem: weak)
        }
        #expect(throws: CryptographyError.malformedKey) { try PublicKey(pem: foreign) }
    }

    @Test(arguments: [
        "", "x", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
        "-----BEGIN PUBLIC KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n"
            + "-----END PUBLIC KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n",
        String(repeating: "x", count: 20_000),
    ])
    func textsThatAreNotAPublicKeyAreRefused(pem: String) {
        #expect(throws: CryptographyError.malformedKey) { try PublicKey(pem: pem) }
    }

    @Test func numbersThatAreNotAKeyAreRefused() throws {
        let modulus = try record().base64URL("modulus")
        for exponent in [[], [0], [1], [2], [1, 0, 0], [UInt8](repeating: 1, count: 9)] {
            #expect(throws: CryptographyError.self) {
                try PublicKey(modulus: modulus, exponent: exponent)
            }
        }
        for modulus in [[], [1], Array(modulus.dropLast()), [UInt8](repeating: 0, count: 256)] {
            #expect(throws: CryptographyError.self) {
                try PublicKey(modulus: modulus, exponent: [1, 0, 1])
            }
        }
        #expect(throws: CryptographyError.unacceptableKeySize(bits: 8200)) {
            try PublicKey(
                modulus: [UInt8](repeating: 0xFF, count: 1025), exponent: [1, 0, 1])
        }
    }
}
