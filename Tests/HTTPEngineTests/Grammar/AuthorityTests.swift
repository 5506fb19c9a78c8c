import Testing

@testable import HTTPEngine

@Suite struct AuthorityTests {
    private func isValid(_ text: String) -> Bool {
        Authority.isValid(Array(text.utf8), in: 0..<text.utf8.count)
    }

    @Test(arguments: [
        "a", "example.test", "EXAMPLE.test.", "127.0.0.1:8080", "a:", "a:0", "a:65535", "[::1]",
        "[2001:db8::1]:443", "[::ffff:1.2.3.4]", "under_score", "xn--bcher-kva.example",
    ])
    func aValidAuthorityIsAccepted(text: String) {
        #expect(isValid(text))
    }

    @Test(arguments: [
        "", ":80", "a:65536", "a:123456", "a:-1", "a:8 0", "a b", "a\tb", "a,b", "u@a", "a/b",
        "a?b", "a#b", "[::1", "::1", "[]", "[]:80", "[::1]x", "[v1.x]", "a%41", "a\0", "\u{e9}",
        String(repeating: "a", count: 256),
    ])
    func anInvalidAuthorityIsNotAccepted(text: String) {
        #expect(!isValid(text))
    }
}
