import Testing

@testable import LocalMail

@Suite struct SMTPPathTests {
    @Test(
        arguments: [
            ("<a@b>", "a@b"), ("<>", ""), ("<A.b+c@D.example>", "A.b+c@D.example"),
            ("<@one.test,@two.test:a@b>", "a@b"), ("<\"a\"@b>", "a@b"),
            ("<\"a b\"@c>", "\"a b\"@c"),
            ("<\"a\\\"\\\\\"@c>", "\"a\\\"\\\\\"@c"), ("<\"a>b@c\"@d>", "\"a>b@c\"@d"),
            ("<\"\\a\"@c>", "a@c"), ("<\"\"@c>", "\"\"@c"), ("<a@[127.0.0.1]>", "a@[127.0.0.1]"),
            ("<a@[IPv6:::1]>", "a@[IPv6:::1]"), ("<Postmaster>", "Postmaster"),
            ("<!#$%&'*+-/=?^_`{|}~@b>", "!#$%&'*+-/=?^_`{|}~@b"), ("<é@ü.test>", "é@ü.test"),
            ("<\(String(repeating: "a", count: 64))@b>", "\(String(repeating: "a", count: 64))@b"),
        ])
    func pathsHaveTheirAddress(text: String, address: String) {
        let path = SMTPPath(parsing: Array(text.utf8)[...])
        #expect(path?.address == address)
        #expect(path?.isASCII == address.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test(
        arguments: [
            "", "<", "a@b", "<a@b", "<a>", "<@b>", "<a@>", "<a@@b>", "<a@b@c>", "<.a@b>", "<a.@b>",
            "<a..b@c>", "<a b@c>", "<a@b c>", "<a@-b>", "<a@b->", "<a@b..c>", "<a@.b>", "<a@[]>",
            "<a@[1 2]>", "<a@[1>", "<\"a@b>", "<\"a\"b@c>", "<\"a\u{7}\"@c>", "<\"\\\u{7F}\"@c>",
            "<@one.test a@b>", "<@one.test,a@b>", "<a@b_c>", "<(x)a@b>", "<a@b\u{0}>",
            "<\(String(repeating: "a", count: 65))@b>",
            "<a@\(String(repeating: "b.", count: 126))cd>",
        ])
    func otherTextIsNoPath(text: String) {
        #expect(SMTPPath(parsing: Array(text.utf8)[...]) == nil)
    }

    @Test func invalidUTF8IsNoPath() {
        #expect(SMTPPath(parsing: [0x3C, 0xFF, 0x40, 0x62, 0x3E]) == nil)
    }

    @Test func aPathEndsAtItsBracket() {
        let path = SMTPPath(parsing: Array("<a@b> SIZE=1".utf8)[...])
        #expect(path?.rest.elementsEqual(" SIZE=1".utf8) == true)
        #expect(!SMTPPath.isAddress("a@b> SIZE=1"))
        #expect(!SMTPPath.isAddress("") && !SMTPPath.isAddress("postmaster"))
        #expect(SMTPPath.isAddress("a@b"))
    }
}
