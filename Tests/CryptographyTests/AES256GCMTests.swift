import Cryptography
import TestSupport
import Testing

@Suite struct AES256GCMTests {
    private let binding = Array("signing_key:1".utf8)
    private let nonce = [UInt8](repeating: 7, count: AES256GCM.nonceBytes)

    private func box(_ plaintext: [UInt8]) throws -> (cipher: AES256GCM, box: [UInt8]) {
        let cipher = try AES256GCM(key: [UInt8](repeating: 1, count: AES256GCM.keyBytes))
        return (cipher, try cipher.seal(plaintext, binding: binding, nonce: nonce))
    }

    @Test(arguments: try VectorFile.records("aes-256-gcm.txt"))
    func agreesWithTheCAVPVectors(record: VectorFile.Record) throws {
        let cipher = try AES256GCM(key: try record.bytes("key"))
        let (nonce, binding) = (try record.bytes("nonce"), try record.bytes("binding"))
        let plaintext = try record.bytes("plaintext")
        let expected = try nonce + record.bytes("ciphertext") + record.bytes("tag")
        #expect(try cipher.seal(plaintext, binding: binding, nonce: nonce) == expected)
        #expect(try cipher.open(expected, binding: binding) == plaintext)
    }

    @Test func everyFlippedBitIsAnError() throws {
        let (cipher, box) = try box(Array("a secret".utf8))
        for bit in 0..<(box.count * 8) {
            var changed = box
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: CryptographyError.authenticationFailed) {
                try cipher.open(changed, binding: binding)
            }
        }
        #expect(try cipher.open(box, binding: binding) == Array("a secret".utf8))
    }

    @Test func everyTruncationIsAnError() throws {
        let (cipher, box) = try box(Array("a secret".utf8))
        for count in 0..<box.count {
            #expect(throws: CryptographyError.authenticationFailed) {
                try cipher.open(Array(box.prefix(count)), binding: binding)
            }
        }
        #expect(throws: CryptographyError.authenticationFailed) {
            try cipher.open(box + [0], binding: binding)
        }
    }

    @Test func aBoxOpensOnlyWithItsBindingAndItsKey() throws {
        let (cipher, box) = try box([1, 2, 3])
        let other = try AES256GCM(key: [UInt8](repeating: 2, count: AES256GCM.keyBytes))
        #expect(throws: CryptographyError.authenticationFailed) {
            try cipher.open(box, binding: Array("signing_key:2".utf8))
        }
        #expect(throws: CryptographyError.authenticationFailed) {
            try cipher.open(box, binding: [])
        }
        #expect(throws: CryptographyError.authenticationFailed) {
            try other.open(box, binding: binding)
        }
    }

    @Test func theEmptyPlaintextIsBoundToo() throws {
        let (cipher, box) = try box([])
        #expect(box.count == AES256GCM.nonceBytes + AES256GCM.tagBytes)
        #expect(try cipher.open(box, binding: binding) == [])
        #expect(throws: CryptographyError.authenticationFailed) {
            try cipher.open(box, binding: [1])
        }
    }

    @Test(arguments: [0, 16, 24, 31, 33])
    func keysOfAnotherLengthAreRefused(count: Int) {
        #expect(throws: CryptographyError.malformedKey) {
            try AES256GCM(key: [UInt8](repeating: 0, count: count))
        }
    }

    @Test(arguments: [0, 8, 11, 13, 16])
    func noncesOfAnotherLengthAreRefused(count: Int) throws {
        let cipher = try AES256GCM(key: [UInt8](repeating: 0, count: AES256GCM.keyBytes))
        #expect(throws: CryptographyError.parameterOutOfBounds("nonce")) {
            try cipher.seal([1], binding: [], nonce: [UInt8](repeating: 0, count: count))
        }
    }

    @Test func plaintextsOverTheLimitAreRefused() throws {
        let (cipher, _) = try box([])
        let long = [UInt8](repeating: 0, count: AES256GCM.maximumPlaintextBytes + 1)
        #expect(throws: CryptographyError.parameterOutOfBounds("plaintext")) {
            try cipher.seal(long, binding: [], nonce: nonce)
        }
    }

    @Test func printsNothingOfTheKey() throws {
        let cipher = try AES256GCM(key: [UInt8](repeating: 0xAB, count: 32))
        var dumped = ""
        dump(cipher, to: &dumped)
        #expect(dumped.contains("<redacted>"))
        #expect(!dumped.contains("171"))
    }
}
