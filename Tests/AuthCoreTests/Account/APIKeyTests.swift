import AuthCore
import Testing

struct APIKeyTests {
    @Test func neverShowsItselfWhenPrinted() throws {
        let key = try #require(APIKey(presented: "pst_very-secret"))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!"\(key) \(String(reflecting: key)) \(dumped)".contains("very-secret"))
    }

    @Test func lengthIsBounded() {
        #expect(APIKey(presented: "") == nil)
        #expect(APIKey(presented: String(repeating: "k", count: 256)) != nil)
        #expect(APIKey(presented: String(repeating: "k", count: 257)) == nil)
    }

    @Test func theDigestIsThatOfTheWholeText() throws {
        let one = try #require(APIKey(presented: "pst_a"))
        let other = try #require(APIKey(presented: "pst_b"))
        #expect(one.digest == one.digest)
        #expect(one.digest != other.digest)
    }
}
