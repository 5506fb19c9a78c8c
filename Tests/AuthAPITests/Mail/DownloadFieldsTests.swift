import Testing

@testable import AuthAPI

struct DownloadFieldsTests {
    @Test(arguments: [
        ("a.txt", "a.txt"), ("../../etc/passwd", "_.._etc_passwd"), ("C:\\x", "C__x"),
        ("..", "x"), ("", "x"), (" . ", "x"), ("a\r\nb", "ab"), ("a\u{0}b", "ab"),
        ("\u{202E}gpj.exe", "gpj.exe"), ("\u{61C}a\u{200F}", "a"), ("a.exe. ", "a.exe"),
        ("\"q\"", "_q_"),
        (".hidden", "hidden"),
    ])
    func aFilenameIsSafe(name: String, safe: String) {
        #expect(SafeFilename.make(name, fallback: "x") == safe)
    }

    @Test func aFilenameIsBounded() {
        let name = SafeFilename.make(String(repeating: "\u{10FFFD}", count: 100_000), fallback: "x")
        #expect(SafeFilename.attachment(name).utf8.count < 4_096)
    }

    @Test func theDispositionHasTheNameInBothForms() {
        #expect(
            SafeFilename.attachment("é 'a'(b)%.txt")
                == "attachment; filename=\"_ 'a'(b)%.txt\"; "
                + "filename*=UTF-8''%C3%A9%20%27a%27%28b%29%25.txt")
    }

    @Test(arguments: ["text/plain", "image/png", "application/vnd.openxmlformats", "x/y-z"])
    func anotherTypeIsSentAsItWasAskedFor(type: String) {
        #expect(MediaType.requested(type) == type)
    }

    @Test(arguments: [
        "text/html", "image/svg+xml", "application/xml", "text/xsl", "text/ecmascript",
        "application/wasm", "multipart/x-mixed-replace", "text", "text/", "/plain", "a/b/c",
        "text/plain; charset=x", "text/pl ain", "",
    ])
    func aTypeThatABrowserRunsOrThatIsNoneIsUnknown(type: String) {
        #expect(MediaType.requested(type) == MediaType.unknown)
        #expect(MediaType.ofAttachment(type) == MediaType.unknown)
    }
}
