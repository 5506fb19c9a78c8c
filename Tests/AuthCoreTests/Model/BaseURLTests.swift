import AuthCore
import Testing

@Suite struct BaseURLTests {
    @Test(arguments: [
        ("https://auth.example.com", "https://auth.example.com"),
        ("HTTP://LOCALHOST:80/a/", "http://localhost:80/a"),
        ("http://[::1]:8080", "http://[::1]:8080"), ("http://127.0.0.1", "http://127.0.0.1"),
    ])
    func baseURLsAreNormalised(text: String, normal: String) {
        #expect(BaseURL(text)?.text == normal)
    }

    @Test(arguments: [
        "", "example.com", "ftp://example.com", "https://", "https:///x", "http://u@h",
        "http://h?q",
        "http://h#f", "http://h:0", "http://h:65536", "http://h:+1", "http://h:", "http://[::1",
        "http://[1.2.3.4]", "http://h/a b", "http://hé", "http://h\n", "http:// h", "http://a_b",
    ])
    func otherTextIsNoBaseURL(text: String) {
        #expect(BaseURL(text) == nil)
    }
}
