import MIME
import Testing

/// Charset, content and text.
private let decodable: [(String, [UInt8], String)] = [
    ("utf-8", Array("é✓".utf8), "é✓"), ("UTF8", Array("é✓".utf8), "é✓"),
    ("us-ascii", Array("abc".utf8), "abc"), ("iso-8859-1", [0xE9, 0x80], "é€"),
    ("ISO-8859-15", [0xA4], "€"), ("windows-1252", [0x93, 0x94, 0x80], "“”€"),
    ("koi8-r", [0xF0, 0xD2, 0xC9, 0xD7, 0xC5, 0xD4], "Привет"),
    ("windows-1251", [0xCF, 0xF0], "Пр"), ("gb18030", [0xC4, 0xE3, 0xBA, 0xC3], "你好"),
    ("GB2312", [0xC4, 0xE3, 0xBA, 0xC3], "你好"), ("big5", [0xA7, 0x41], "你"),
    ("Shift_JIS", [0x93, 0xFA, 0x96, 0x7B], "日本"), ("euc-kr", [0xC7, 0xD1], "한"),
    ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42, 0x61], "日a"),
    ("utf-7", Array("Hi +ZeVnLA-!".utf8), "Hi 日本!"),
    ("utf-16le", [0x41, 0, 0xAC, 0x20], "A€"), ("utf-16be", [0, 0x41, 0x20, 0xAC], "A€"),
    ("iso-8859-8-i", [0xF9], "ש"),
]

private let undecodable: [(String?, [UInt8], String)] = [
    ("x-unknown", Array("abc".utf8), "abc"), ("x-unknown", Array("é".utf8), "é"),
    ("x-unknown", [0x63, 0xE9], "cé"), (nil, Array("é".utf8), "é"), (nil, [0x63, 0xE9], "cé"),
    ("", [0xE9], "é"), ("utf-16//IGNORE", [0xE9], "é"), ("../../x", [0xE9], "é"),
    ("us-ascii", [0xE9], "é"), ("a\u{e9}", [0xE9], "é"),
    (String(repeating: "x", count: 1_000), [0xE9], "é"),
    ("utf-8", [0x61, 0xFF, 0x62], "a\u{FFFD}b"),
    ("euc-kr", [0xC7, 0xD1, 0xFF, 0x61], "한\u{FFFD}a"),
    ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46], "\u{FFFD}"),
    ("utf-16le", [0x41, 0, 0x41], "A\u{FFFD}"),
    ("windows-1252", [0x81, 0x61], "\u{FFFD}a"),
]

@Suite struct DecodedTextTests {
    private func decode(
        _ bytes: [UInt8], _ charset: String?, coding: String = "8bit"
    ) throws -> DecodedText {
        let parameter = charset.map { "; charset=\"\($0)\"" } ?? ""
        let head = "Content-Type: text/plain\(parameter)\nContent-Transfer-Encoding: \(coding)\n\n"
        let message = try ParsedMessage(Array(head.utf8) + bytes)
        return message.text(of: message.root)
    }

    @Test(arguments: decodable)
    func knownCharsetsAreDecoded(charset: String, bytes: [UInt8], text: String) throws {
        let decoded = try decode(bytes, charset)
        #expect(decoded.text == text && !decoded.isEncodingProblem)
    }

    /// UTF-8 if it is that, otherwise windows-1252.
    @Test(arguments: undecodable)
    func otherBytesAreShownAndReported(
        charset: String?, bytes: [UInt8], text: String
    ) throws {
        let decoded = try decode(bytes, charset)
        #expect(decoded.text == text && decoded.isEncodingProblem)
    }

    @Test(arguments: [
        ("base64", "w6k=", "é", false), ("BASE64", "w6\r\nk=", "é", false),
        ("quoted-printable", "=C3=A9 =\r\nx=20\r\n", "é x \n", false),
        ("quoted-printable", "=C3=a9=", "é", false), ("quoted-printable", "a=ZZb", "a=ZZb", false),
        ("7bit", "a", "a", false), ("(none) binary", "a", "a", false),
        (
            "x-uuencode",
            "begin 644 a.txt\r\n#86)C\r\n`\r\nend\r\n", "abc", false
        ), ("x-strange", "w6k=", "w6k=", true),
        ("base64", "", "", false), ("base64", "!!!", "", false),
    ])
    func transferEncodingsAreRemoved(
        coding: String, content: String, text: String, hasProblem: Bool
    ) throws {
        let decoded = try decode(Array(content.utf8), "utf-8", coding: coding)
        #expect(decoded.text == text && decoded.isEncodingProblem == hasProblem)
    }

    @Test func lineBreaksBecomeLF() throws {
        #expect(try decode(Array("a\r\nb\rc\nd\r\r\n".utf8), "utf-8").text == "a\nb\nc\nd\n\n")
    }
}
