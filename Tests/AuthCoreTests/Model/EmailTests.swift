import AuthCore
import Testing

@Suite struct EmailTests {
    @Test(arguments: [
        ("user@example.com", "user@example.com"),
        (" \tUser.Name+Tag@Example.COM\r\n", "user.name+tag@example.com"),
        ("O'Brien@example.com", "o'brien@example.com"),
        ("!#$%&'*+-/=?^_`{|}~@example.com", "!#$%&'*+-/=?^_`{|}~@example.com"),
        ("a@x.y", "a@x.y"),
    ])
    func anyDotAtomIsALocalPartAndIsLowerCased(text: String, normal: String) {
        #expect(Email(parsing: text)?.text == normal)
        #expect(Email(parsing: normal)?.text == normal)
    }

    @Test(arguments: [
        "", "@", "user", "user@", "@example.com", "a@b@example.com", "user@localhost",
        ".a@example.com", "a.@example.com", "a..b@example.com", "a b@example.com",
        "a\tb@example.com", "a\n@example.com", "a\0@example.com", "\"a b\"@example.com",
        "a(b)@example.com", "a,b@example.com", "a:b@example.com", "a;b@example.com",
        "<a@example.com>", "a[b]@example.com", "a\\b@example.com", "a@[127.0.0.1]",
        "a@example..com", "a@-example.com", "a@example.com.", "a@exa_mple.com", "ä@example.com",
        "a@exämple.com", "\u{212A}@example.com", "a\u{200B}@example.com", "a\u{7f}@example.com",
    ])
    func anythingElseIsNotAnEmail(text: String) {
        #expect(Email(parsing: text) == nil)
    }

    @Test func theLocalPartHasAtMost64Bytes() {
        let longest = String(repeating: "a", count: 64)
        #expect(Email(parsing: longest + "@example.com") != nil)
        #expect(Email(parsing: longest + "a@example.com") == nil)
    }
}
