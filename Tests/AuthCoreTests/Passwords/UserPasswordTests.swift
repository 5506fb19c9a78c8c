import Testing

@testable import AuthCore

struct UserPasswordTests {
    private func check(_ password: String, email: String = "ada@example.test") throws {
        let email = try #require(Email(parsing: email))
        try UserPassword.check(Array(password.utf8), of: email)
    }

    @Test(arguments: ["", "7seven7", "\u{1f511}\u{1f511}\u{1f511}", "\u{e4}\u{e4}\u{e4}\u{e4}"])
    func aPasswordHasEightCharacters(password: String) {
        #expect(throws: AccountsError.passwordTooShort) { try check(password) }
    }

    @Test(arguments: [
        "password", "12345678", "qwertyuiop", "iloveyou", "PASSWORD1", "Football", "!qaz2wsx",
        "zz8807zpl",
    ])
    func aPasswordIsNotACommonOne(password: String) {
        #expect(throws: AccountsError.passwordTooCommon) { try check(password) }
    }

    @Test(arguments: [
        ("ada@example.test", "ADA@example.test"), ("ada@example.test", "example.test"),
        ("ada.lovelace@example.test", "Ada.Lovelace"),
    ])
    func aPasswordIsNotTheEmailOrAPartOfIt(email: String, password: String) {
        #expect(throws: AccountsError.passwordTooCommon) { try check(password, email: email) }
        #expect(throws: Never.self) { try check(password, email: "eve@elsewhere.test") }
    }

    @Test(arguments: [
        "propassword", "correct horse battery staple",
        "\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}",
        "password0000000", "!!!!!!!!", "~~~~~~~~",
    ])
    func anyOtherPasswordIsAccepted(password: String) {
        #expect(throws: Never.self) { try check(password) }
    }

    /// The search finds every line and nothing between the lines.
    @Test func everyLineOfTheListIsFound() {
        let list = CommonPasswords.list
        #expect(list.last == UInt8(ascii: "\n"))
        let lines = list.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .dropLast()
        #expect(lines.count > 3000)
        for (line, next) in zip(lines, lines.dropFirst()) {
            #expect(line.lexicographicallyPrecedes(next))
        }
        for line in lines {
            #expect(line.count >= UserPassword.minimumCharacters)
            #expect(CommonPasswords.contains(Array(line)))
            #expect(!CommonPasswords.contains(Array(line.dropLast()) + [0x7f]))
        }
        #expect(!CommonPasswords.contains([]))
        #expect(!CommonPasswords.contains([0xff]))
        #expect(!CommonPasswords.contains(Array(list[..<17])))
    }
}
