import AuthCore
import Cryptography
import Testing

struct AccountCursorTests {
    private static let id = "a1b2c3d4-e5f6-7890-abcd-1234567890ab"

    @Test(arguments: [Int64.min, -1, 0, 1_800_000_000_123, .max])
    func theTextOfACursorIsReadAsTheSameCursor(milliseconds: Int64) throws {
        let cursor = AccountCursor(
            created: Instant(milliseconds: milliseconds), id: try #require(AccountID(Self.id)))
        #expect(AccountCursor(cursor.text) == cursor)
        #expect(cursor.text.utf8.allSatisfy { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "+") })
    }

    @Test(arguments: [
        "", "7", "7/", "/\(id)", "+7/\(id)", "07/\(id)", "7/\(id)/", "7/\(id.dropLast())",
        "x/\(id)",
        "9223372036854775808/\(id)", "7 /\(id)",
    ])
    func anyOtherContentIsNotACursor(content: String) {
        #expect(AccountCursor(Base64URL.encode(Array(content.utf8))) == nil)
    }

    @Test func aTextThatIsNotBase64URLOrTooLongIsNotACursor() {
        #expect(AccountCursor("%") == nil)
        #expect(AccountCursor(String(repeating: "A", count: 129)) == nil)
    }
}
