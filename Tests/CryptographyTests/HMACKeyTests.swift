import Cryptography
import TestSupport
import Testing

@Suite struct HMACKeyTests {
    @Test(arguments: try VectorFile.records("hmac-sha256.txt"))
    func agreesWithRFC4231(record: VectorFile.Record) throws {
        let mac = HMACKey(secret: try record.bytes("key")).authenticate(try record.bytes("message"))
        let expected = try record.bytes("mac")
        #expect(mac.count == HMACKey.macBytes)
        #expect(Array(mac.prefix(expected.count)) == expected)
    }

    @Test func agreesWithRFC7515AppendixA1() throws {
        let example = try #require(try VectorFile.records("rfc7515-a1.txt").first)
        let key = HMACKey(secret: try example.base64URL("key"))
        let input = Array(try example.text("input").utf8)
        #expect(Base64URL.encode(key.authenticate(input)) == (try example.text("signature")))
        #expect(key.isValid(try example.base64URL("signature"), for: input))
    }

    @Test func theEmptySecretIsTheSecretOfZeros() {
        let expected = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
        #expect(Hex.encode(HMACKey(secret: []).authenticate([])) == expected)
        #expect(Hex.encode(HMACKey(secret: [0, 0]).authenticate([])) == expected)
    }

    @Test func everyFlippedBitIsRefused() {
        let key = HMACKey(secret: Array("a secret".utf8))
        let message = Array("a message".utf8)
        let mac = key.authenticate(message)
        for bit in 0..<(mac.count * 8) {
            var changed = mac
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.isValid(changed, for: message))
        }
        #expect(key.isValid(mac, for: message))
    }

    @Test func truncatedLongerAndEmptyCodesAreRefused() {
        let key = HMACKey(secret: Array("a secret".utf8))
        let mac = key.authenticate([1])
        #expect(!key.isValid([], for: [1]))
        #expect(!key.isValid(Array(mac.dropLast()), for: [1]))
        #expect(!key.isValid(mac + [0], for: [1]))
    }

    @Test func anotherKeyOrMessageIsRefused() {
        let mac = HMACKey(secret: [1]).authenticate([9])
        #expect(!HMACKey(secret: [2]).isValid(mac, for: [9]))
        #expect(!HMACKey(secret: [1]).isValid(mac, for: [9, 9]))
    }

    @Test func manyTasksUseOneKeyAtOnce() async {
        let key = HMACKey(secret: Array("shared".utf8))
        let expected = (0..<64).map { key.authenticate([UInt8($0)]) }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<2_000).allSatisfy {
                        key.authenticate([UInt8($0 % 64)]) == expected[$0 % 64]
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test func printsNothingOfTheSecret() {
        let key = HMACKey(secret: Array("visible".utf8))
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "HMACKey(<redacted>)")
        #expect(!dumped.contains("address") && !dumped.contains("prepared"))
    }
}
