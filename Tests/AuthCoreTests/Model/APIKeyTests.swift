import AuthCore
import Cryptography
import Testing

struct APIKeyTests {
    @Test func printingAKeyDoesNotShowIt() throws {
        let key = try #require(APIKey(presented: "pst_very-secret"))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!"\(key) \(String(reflecting: key)) \(dumped)".contains("very-secret"))
    }

    @Test func aPresentedKeyHas1To256Bytes() {
        #expect(APIKey(presented: "") == nil)
        #expect(APIKey(presented: String(repeating: "k", count: 256)) != nil)
        #expect(APIKey(presented: String(repeating: "k", count: 257)) == nil)
    }

    @Test func theDigestIsThatOfTheWholeText() throws {
        let one = try #require(APIKey(presented: "pst_a"))
        let other = try #require(APIKey(presented: "pst_b"))
        #expect(one.digest != other.digest)
        // SHA-256 of the text.
        #expect(one.digest.bytes == SHA256.digest(Array("pst_a".utf8)))
    }
}
