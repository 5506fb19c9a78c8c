import MIME
import Testing

@Suite struct PreviewTests {
    private func preview(_ text: String, type: String = "text/plain") throws -> String {
        try message("Content-Type: \(type); charset=utf-8\n\n\(text)").preview
    }

    @Test(arguments: [
        ("attachment", "The report is attached."), ("calendar", "Встреча в десять"),
        ("forwarded", "See below."), ("japanese", "明日の会議は十時からです。 山田"),
        ("newsletter", "Drei Bücher für den März, nur 10 €."), ("plain", "Is twelve fine?"),
        ("report", "The message could not be delivered."), ("broken", "Café is open"),
    ])
    func thePreviewIsTheBeginningOfTheText(name: String, preview: String) throws {
        #expect(try Samples.message(name).preview == preview)
    }

    @Test(arguments: [
        ("<p>a<b>b</b>c</p>d", "abc d"), ("a<br>b", "a b"), ("<style>x</style>a", "a"),
        ("<SCRIPT>if (a</b>c) x</SCRIPT >a", "a"), ("<!-- <p>x --> a", "a"), ("<!-- x", ""),
        ("a < b &amp; c&lt;d", "a < b & c<d"),
        ("&#233;&#xE9;&eacute;&#xD800;&#0;&x;", "ééé&#xD800;&#0;&x;"),
        ("<a title=\"1 > 2\" href='>'>x</a>", "x"), ("<p", ""), ("<script>x", ""), ("&", "&"),
        ("<", "<"),
        ("a&nbsp;&nbsp;b", "a b"), ("<head><title>t</title></head>x", "x"), ("<it's>x", "x"),
        ("&lt;b&gt;", "<b>"), ("<script>a<script>b</script>c", "c"), ("<!---->a", "a"),
        ("&#99999999999;", "&#99999999999;"),
        ("a&shy;b&#8203;c", "abc"),
    ])
    func htmlIsShownWithoutTags(html: String, text: String) throws {
        #expect(try preview(html, type: "text/html") == text)
    }

    @Test func thePreviewHas256CharactersAtMost() throws {
        let most = String(repeating: "é", count: 256)
        #expect(try preview(most) == most)
        #expect(try preview(most + "x") == most)
        #expect(try preview(String(repeating: "a ", count: 500)).unicodeScalars.count == 255)
        // One grapheme cluster.
        let cluster = "e" + String(repeating: "\u{301}", count: 1_000)
        #expect(try preview(cluster).unicodeScalars.count == 256)
    }

    @Test func whiteSpaceAndControlsAreNotShown() throws {
        let text = "\n a\t\tb \u{1B}[31m\u{202E}\u{61C}c\u{A0}\nd\u{FEFF} "
        #expect(try preview(text) == "a b [31mc d")
        #expect(try preview("") == "")
        #expect(try preview(" \n") == "")
    }

    @Test func everyPrintableASCIICharacterIsShown() throws {
        let shown = String(decoding: 0x21...0x7E as ClosedRange<UInt8>, as: UTF8.self)
        #expect(try preview(shown) == shown)
        #expect(try preview("a\u{1F}\u{7F}b") == "ab")
    }

    @Test func anEmptyTextLeavesTheHTML() throws {
        let text = """
            Content-Type: multipart/alternative; boundary=b

            --b

             \u{20}
            --b
            Content-Type: text/html

            <p>shown</p>
            --b--
            """
        #expect(try message(text).preview == "shown")
    }
}

@Suite struct TextFlowTests {
    /// RFC 3676 §4.
    @Test(arguments: [
        ("a \nb\nc", "a b\nc"), ("a \n", "a "), ("a\n\nb\n", "a\n\nb\n"),
        ("> a \n> b\n> c", "> a b\n> c"),
        (">> a \n> b", ">> a \n> b"), (" From x\n > y", "From x\n> y"), ("-- \nCarl", "-- \nCarl"),
        ("a \n-- \nb", "a \n-- \nb"), ("", ""), (" ", ""), ("> \n> a", "> \n> a"), ("a", "a"),
        ("\n", "\n"),
    ])
    func flowedLinesAreJoined(text: String, unfolded: String) {
        #expect(TextFlow(deletesSpace: false).unfold(text) == unfolded)
    }

    @Test func theSpaceBeforeALineBreakIsDeletedOnRequest() {
        #expect(TextFlow(deletesSpace: true).unfold("日 \n本\nc") == "日本\nc")
    }

    @Test func flowedTextIsKnown() throws {
        #expect(try Samples.message("list").root.flow == TextFlow(deletesSpace: false))
        #expect(
            try Samples.message("list").preview
                == "> This is what was written before. >> And before that, longer. Yes, that is what I meant – naïvely. From here on it is stuffed. -- Carl"
        )
        let type = "Content-Type: text/plain; format=Flowed; DelSp=Yes\n\n"
        #expect(try message(type).root.flow == TextFlow(deletesSpace: true))
        #expect(try Samples.message("plain").root.flow == nil)
    }
}
