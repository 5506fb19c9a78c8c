import AuthCore
import Testing

struct IdentifierTests {
    @Test func aRandomIDIsAVersion4UUID() {
        let zeros = AccountID(random: [UInt8](repeating: 0, count: 16))
        let ones = AccountID(random: [UInt8](repeating: 0xff, count: 16))
        #expect(zeros.text == "00000000-0000-4000-8000-000000000000")
        #expect(ones.text == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    }

    @Test func eitherCaseIsReadAndStoredInLowerCase() {
        let text = "A1B2C3D4-E5F6-7890-ABCD-1234567890AB"
        #expect(AccountID(text)?.text == "a1b2c3d4-e5f6-7890-abcd-1234567890ab")
    }

    @Test(arguments: [
        "", "a1b2c3d4", "a1b2c3d4-e5f6-7890-abcd-1234567890a",
        "{a1b2c3d4-e5f6-7890-abcd-1234567890}",
        "a1b2c3d4-e5f6-7890-abcd-1234567890ag", "a1b2c3d4+e5f6-7890-abcd-1234567890ab",
        "a1b2c3d4e5f67890abcd1234567890ab0000", "a1b2c3d4-e5f6-7890-abcd-1234567890ab ",
        "ä1b2c3d4-e5f6-7890-abcd-1234567890a",
    ])
    func anythingElseIsNotAnIdentifier(text: String) {
        #expect(AccountID(text) == nil)
    }
}
