import Cryptography
import Testing

@Suite struct SecretBytesTests {
    private struct Holder {
        let secret: SecretBytes
    }

    @Test func keepsItsBytes() {
        #expect(SecretBytes([1, 2, 3]).bytes == [1, 2, 3])
        #expect(SecretBytes([1, 2, 3]).count == 3)
        #expect(SecretBytes([]).bytes == [])
    }

    @Test func comparesByItsBytes() {
        #expect(SecretBytes([1, 2]) == SecretBytes([1, 2]))
        #expect(SecretBytes([1, 2]) != SecretBytes([1, 3]))
        #expect(SecretBytes([1]) != SecretBytes([1, 0]))
    }

    @Test func printsRedactedInEveryWay() {
        let secret = SecretBytes([222, 173])
        var dumped = ""
        dump(Holder(secret: secret), to: &dumped)
        let texts = [
            "\(secret)", String(reflecting: secret), String(describing: secret), dumped,
            "\(Holder(secret: secret))", "\([secret])",
        ]
        for text in texts {
            #expect(text.contains("<redacted>"))
            #expect(!text.contains("222"))
        }
    }
}

@Suite struct ConstantTimeTests {
    @Test func equalMeansTheSameBytes() {
        #expect(ConstantTime.equal([], []))
        #expect(ConstantTime.equal([1, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2, 4]))
        #expect(!ConstantTime.equal([0, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.equal([1, 2, 3], [1, 2]))
        #expect(!ConstantTime.equal([], [0]))
    }

    @Test func aWipedArrayHasZerosInItsOwnMemory() {
        var bytes: [UInt8] = (1...64).map { $0 }
        let before = bytes.withUnsafeBytes { $0.baseAddress }
        bytes.wipe()
        #expect(bytes == [UInt8](repeating: 0, count: 64))
        #expect(bytes.withUnsafeBytes { $0.baseAddress } == before)
        var empty: [UInt8] = []
        empty.wipe()
        #expect(empty.isEmpty)
    }

    @Test func theBytesAreLentWithoutACopy() {
        let secret = SecretBytes([1, 2, 3])
        let first = secret.withUnsafeBytes { $0.baseAddress }
        #expect(secret.withUnsafeBytes { $0.baseAddress } == first)
        #expect(secret.withUnsafeBytes { Array($0) } == [1, 2, 3])
    }
}
