import CCurl
import TestPrimitives
import Testing

@testable import Fetching

@Suite struct FetchTargetTests {
    private static let open = FetchRules(allowsHTTP: true, ports: .any)

    private func isMalformed(_ text: String, under rules: FetchRules = open) -> Bool {
        do {
            _ = try FetchTarget(text, under: rules)
            return false
        } catch {
            return true
        }
    }

    @Test(arguments: [
        ("https://example.com/hash.txt", "https://example.com/hash.txt"),
        ("https://example.com", "https://example.com/"),
        ("https://example.com?a=b", "https://example.com/?a=b"),
        ("HTTPS://EXAMPLE.Com/Hash", "https://example.com/Hash"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("http://localhost:80/", "http://localhost/"),
        ("http://localhost:443/", "http://localhost:443/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://1e100.net/", "https://1e100.net/"),
        ("https://3com.com.1a/", "https://3com.com.1a/"),
        ("https://93.184.216.34/", "https://93.184.216.34/"),
        ("https://[2001:DB8::1]:444/a", "https://[2001:db8::1]:444/a"),
        ("https://[::ffff:127.0.0.1]/", "https://[::ffff:127.0.0.1]/"),
        (
            "https://h.test/a@b:c/../%2e%2E/~u;v=1?q=/?&x",
            "https://h.test/a@b:c/../%2e%2E/~u;v=1?q=/?&x"
        ),
        ("https://h.test//x", "https://h.test//x"),
    ])
    func anAllowedURLIsReadAndHasOneForm(text: String, url: String) throws {
        let target = try FetchTarget(text, under: Self.open)
        #expect(target.url == url)
        #expect(try FetchTarget(target.url, under: Self.open) == target)
    }

    @Test(arguments: [
        "", "https", "https:", "https:/", "https://", "https:///", "https:///example.com/",
        "https:example.com", "//example.com/", "example.com", "ftp://example.com/", "file:///etc/",
        "gopher://h.test/", "httpss://h.test/", "https ://h.test/", " https://h.test/",
        "https://h.test/ ", "https://h.test/a b", "https://h.test/\t", "https://h.test/\r\nX: y",
        "https://h.test/\0", "https://h.test/\u{e9}", "https://h.test/\u{7f}",
        "https://b\u{fc}cher.test/", "https://\u{ff11}27.0.0.1/", "https://h\u{3002}test/",
    ])
    func aTextThatIsNotAURLIsMalformed(text: String) {
        #expect(isMalformed(text))
    }

    @Test(arguments: [
        "user@h.test", "user:pass@h.test", "@h.test", ":@h.test", "h.test@127.0.0.1",
        "h.test:443@127.0.0.1", "h.test%40127.0.0.1", "h.test\\@127.0.0.1", "h.test\\",
        "h.test#@127.0.0.1", "127.0.0.1\\.h.test",
    ])
    func aTextWithUserInfoIsMalformed(authority: String) {
        #expect(isMalformed("https://\(authority)/"))
    }

    @Test(arguments: [
        "-h.test", "h-.test", "h..test", ".h.test", "h.test.", "h_t.test", "h%2etest", "%68.test",
        "h!.test", "h,t.test", "h;t", "*", String(repeating: "a", count: 64) + ".test",
        String(repeating: "a.", count: 126) + "ab",
    ])
    func aHostThatIsNotANameIsMalformed(host: String) {
        #expect(isMalformed("https://\(host)/"))
    }

    @Test(arguments: [
        "2130706433", "017700000001", "0x7f000001", "0X7F000001", "0177.0.0.1", "0x7f.0.0.1",
        "0x7f.1", "127.1", "127.0.1", "127.0.0.01", "127.0.0.1.", "0", "0x", "00000000.0", "256",
        "1.2.3.256", "1.2.3.4.5", "a.1", "a.0x1f", "1.2.3.0x4", "127.0.0.1%00", "127.0.0.1%1",
        "[127.0.0.1]", "[::1", "::1", "[::1]x", "[::1].", "[]", "[::1%25lo]", "[::1%lo]",
        "[fe80::1%1]",
        "[0:0:0:0:0:0:0:1]", "[::0001]", "[::ffff:7f00:1]", "[::ffff:127.0.0.01]", "[v1.a]",
        "[[::1]]", "[::]]",
    ])
    func aNumericHostThatIsNotCanonicalIsMalformed(host: String) {
        #expect(isMalformed("https://\(host)/"))
    }

    @Test(arguments: [
        "", "0", "00443", "0443", "65536", "99999999999", "-1", "+443", "4 3", "4a", "443:443",
    ])
    func aPortThatIsNotANumberIsMalformed(port: String) {
        #expect(isMalformed("https://h.test:\(port)/"))
        #expect(isMalformed("https://[2001:db8::1]:\(port)/"))
    }

    @Test(arguments: [
        "#", "#a", "%", "%4", "%zz", "%4g", "\\", "|", "^", "`", "{}", "\"", "<>", "[]",
    ])
    func aPathOrQueryOutsideRFC3986IsMalformed(text: String) {
        #expect(isMalformed("https://h.test/\(text)"))
        #expect(isMalformed("https://h.test?\(text)"))
        #expect(isMalformed("https://h.test\(text)"))
    }

    @Test func aTextIsBoundedInLength() {
        let start = "https://h.test/"
        let longest = start + String(repeating: "a", count: FetchTarget.maxBytes - start.count)
        #expect(!isMalformed(longest))
        #expect(isMalformed(longest + "a"))
    }

    @Test func onlySchemesAndPortsOfTheRulesAreAllowed() {
        let strict = FetchRules(ports: .only([8443]))
        #expect(!isMalformed("https://h.test/", under: strict))
        #expect(!isMalformed("https://h.test:8443/", under: strict))
        #expect(isMalformed("https://h.test:8444/", under: strict))
        #expect(isMalformed("https://h.test:80/", under: strict))
        #expect(isMalformed("http://h.test/", under: strict))
        #expect(isMalformed("http://h.test:8443/", under: strict))
        let lax = FetchRules(allowsHTTP: true)
        #expect(!isMalformed("http://h.test/", under: lax))
        #expect(isMalformed("http://h.test:443/", under: lax))
    }

    @Test func noPrefixTraps() {
        let text = "https://[2001:db8::1]:8443/a%20b/?q=%2F#"
        for count in 0...text.count { _ = isMalformed(String(text.prefix(count))) }
    }

    /// Random texts of parts that parsers disagree on. libcurl reads every accepted one alike.
    @Test func libcurlFindsTheSamePartsInEveryTarget() throws {
        var random = SeededGenerator(seed: 20_240_607)
        let pieces = [
            "https://", "http://", "h.test", "127.0.0.1", "[::1]", "[2001:db8::1]", "@", ":",
            ":443",
            ":80", ":8443", "/", "//", "?", "#", "\\", "%2f", "%", ".", "..", "0x7f", "1", "a", "-",
            "[",
            "]", "&", ";", "=", "localhost", "~",
        ]
        var accepted = 0
        for _ in 0..<20_000 {
            let tail = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }
            let text =
                pieces[Int.random(in: 0..<2, using: &random)]
                + pieces[2 + Int.random(in: 0..<4, using: &random)] + tail.joined()
            guard let target = try? FetchTarget(text, under: Self.open) else { continue }
            accepted += 1
            let parts = try #require(CurlParts(target.url), "\(text)")
            #expect(parts.scheme == target.scheme.rawValue, "\(text)")
            #expect(parts.host == target.host.text, "\(text)")
            #expect(parts.port == "\(target.port)", "\(text)")
            #expect(parts.resource == target.resource, "\(text)")
        }
        #expect(accepted > 1000)
    }
}

/// The parts that libcurl's own parser finds in a URL.
private struct CurlParts {
    let scheme: String
    let host: String
    let port: String
    let resource: String

    init?(_ url: String) {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK
        else { return nil }
        func part(_ name: CURLUPart, _ flags: Int32 = 0) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, name, &text, UInt32(flags)) == CURLUE_OK, let text else {
                return nil
            }
            defer { curl_free(text) }
            return String(cString: text)
        }
        guard part(CURLUPART_USER) == nil, part(CURLUPART_FRAGMENT) == nil,
            let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST),
            let port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT), let path = part(CURLUPART_PATH)
        else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
        resource = path + (part(CURLUPART_QUERY).map { "?" + $0 } ?? "")
    }
}
