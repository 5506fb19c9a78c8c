import MIME
import Testing

@Suite struct StructureTests {
    @Test(arguments: [
        (
            "attachment",
            "multipart/mixed(multipart/alternative(text/plain, multipart/related(text/html, image/png)), application/pdf)"
        ),
        ("broken", "multipart/mixed(text/plain, text/html, text/plain)"),
        ("calendar", "multipart/mixed(text/plain, text/calendar)"),
        ("forwarded", "multipart/mixed(text/plain, message/rfc822)"), ("japanese", "text/plain"),
        ("list", "text/plain"), ("newsletter", "multipart/alternative(text/plain, text/html)"),
        ("plain", "text/plain"),
        (
            "report",
            "multipart/report(text/plain, message/delivery-status, text/rfc822-headers)"
        ),
    ])
    func messagesAreDividedIntoTheirParts(name: String, parts: String) throws {
        #expect(outline(try Samples.message(name).root) == parts)
    }

    @Test func partsHaveTheNumbersOfIMAP() throws {
        let message = try Samples.message("attachment")
        #expect(
            message.root.all.map(\.partId) == [nil, nil, "1.1", nil, "1.2.1", "1.2.2", "2"])
        #expect(message.part("1.2.2")?.type == "image/png")
        #expect(message.part("1.2") == nil)
        #expect(try Samples.message("plain").root.partId == "1")
    }

    @Test func aPartHasItsProperties() throws {
        let message = try Samples.message("attachment")
        let image = try #require(message.part("1.2.2"))
        #expect(image.name == "logo.png")
        #expect(image.disposition == "inline")
        #expect(image.cid == "logo@example.org")
        #expect(image.charset == nil && image.language == nil && image.location == nil)
        #expect(image.size == 68 && message.content(of: image).starts(with: [137, 80, 78, 71]))
        let report = try #require(message.part("2"))
        #expect(report.name == "Bericht für März.pdf")
        #expect(report.language == ["de", "en"])
        #expect(report.location == "https://example.org/report.pdf")
        #expect(report.header.fields.first?.name == "Content-Type")
        #expect(message.root.size == 0 && message.content(of: message.root).isEmpty)
    }

    @Test func aMessageWithinAMessageIsAContent() throws {
        let message = try Samples.message("forwarded")
        let part = try #require(message.part("2"))
        let inner = try ParsedMessage(message.content(of: part))
        #expect(inner.header.subject == "Lunch")
        #expect(outline(inner.root) == "multipart/mixed(text/plain)")
        #expect(inner.preview == "Is twelve fine?")
    }

    @Test func theLineBreakBeforeABoundaryIsNotContent() throws {
        for lineBreak in ["\r\n", "\n"] {
            let text =
                "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n\n--b \n\ntwo\n--b--\nrest"
            let bytes = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
                .joined(separator: Array(lineBreak.utf8))
            let message = try ParsedMessage(Array(bytes))
            #expect(message.root.subParts?.map { message.text(of: $0).text } == ["one\n", "two"])
        }
    }

    @Test(arguments: [
        // Preamble and epilogue are not parts.
        ("preamble\n--b\n\n1\n--b--\n--b\nepilogue", "multipart/mixed(text/plain)"),
        ("--b\n\n1", "multipart/mixed(text/plain)"), ("--b\n", "multipart/mixed(text/plain)"),
        ("--b\n--b\n--b--", "multipart/mixed(text/plain, text/plain)"),
        ("--b\nA: 1\n--b--", "multipart/mixed(text/plain)"),
        ("--bb\n--b c\n-b\n--b\n\n--bb\n--b-\n", "multipart/mixed(text/plain)"),
        ("--b--\n", "text/plain"), ("no boundary", "text/plain"), ("", "text/plain"),
    ])
    func boundariesAreWholeLines(body: String, parts: String) throws {
        let message = try message("Content-Type: multipart/mixed; boundary=b\n\n\(body)")
        #expect(outline(message.root) == parts)
    }

    @Test func aMultipartThatCannotBeDividedIsShownAsText() throws {
        for type in [
            "multipart/mixed", "multipart/mixed; boundary=\"\"", "multipart/mixed; boundary=x",
        ] {
            let message = try message("Content-Type: \(type)\n\nhello")
            #expect(message.root.type == "text/plain" && message.preview == "hello")
        }
    }

    @Test func anOuterBoundaryEndsTheInnerMultipart() throws {
        let message = try message(
            """
            Content-Type: multipart/mixed; boundary=a

            --a
            Content-Type: multipart/digest; boundary=ab

            --ab

            From: x
            --a
            Content-Type: text/html

            --ab
            --a--
            """)
        #expect(
            outline(message.root)
                == "multipart/mixed(multipart/digest(message/rfc822), text/html)")
    }

    @Test(arguments: [
        ("text/html", "text/html"), ("TEXT/HTML; charset=x", "text/html"), ("text", "text/plain"),
        ("", "text/plain"), ("/", "text/plain"), ("text/", "text/plain"), ("é/x", "text/plain"),
        ("text / html", "text/html"), (";", "text/plain"), ("a/b/c", "a/b"),
    ])
    func anInvalidTypeIsText(value: String, type: String) throws {
        #expect(try message("Content-Type: \(value)\n\n").root.type == type)
    }

    /// RFC 2231 §3 and §4, RFC 2047 in parameters, and what senders write.
    @Test(arguments: [
        ("attachment; filename=a.txt", "a.txt"),
        ("attachment; filename=\"a \\\"b\\\".txt\"", "a \"b\".txt"),
        (
            "attachment; filename*=us-ascii'en-us'This%20is%20%2A%2A%2Afun%2A%2A%2A",
            "This is ***fun***"
        ),
        (
            "attachment; filename*0*=us-ascii'en'This%20is%20even%20more%20;\n filename*1*=%2A%2A%2Afun%2A%2A%2A%20;\n filename*2=\"isn't it!\"",
            "This is even more ***fun*** isn't it!"
        ),
        ("attachment; filename*1=b; filename*0=a", "ab"),
        ("attachment; filename*=utf-8''%e2%82%ac%20rates", "€ rates"),
        ("attachment; filename=\"=?utf-8?Q?=E2=82=AC?=\"", "€"), ("attachment; filename=€", "€"),
        ("attachment; filename=a b.txt", "a b.txt"), ("attachment", nil),
        ("attachment; filename=\"\"", nil),
        ("attachment; filename*=utf-8''a%0D%0Ab", "ab"),
    ])
    func namesOfFilesAreDecoded(value: String, name: String?) throws {
        #expect(try message("Content-Disposition: \(value)\n\n").root.name == name)
    }

    @Test func theNameOfTheTypeIsTakenWithoutAFilename() throws {
        let fields = "Content-Type: image/png; name=a.png\nContent-Disposition: inline"
        #expect(try message("\(fields)\n\n").root.name == "a.png")
        #expect(try message("\(fields); filename=b.png\n\n").root.name == "b.png")
    }

    @Test func textWithoutACharsetIsASCII() throws {
        #expect(try message("Content-Type: text/html\n\n").root.charset == "us-ascii")
        #expect(try message("Content-Type: text/html; charset=Big5\n\n").root.charset == "Big5")
        #expect(try message("Content-Type: image/png\n\n").root.charset == nil)
        #expect(try message("\n").root.charset == "us-ascii")
    }

    @Test func aFieldOfTheContentHasALongestValue() throws {
        let most = 16_384 - " text/html;a=".utf8.count
        let value = "text/html;a=" + String(repeating: "x", count: most)
        #expect(try message("Content-Type: \(value)\n\n").root.type == "text/html")
        #expect(try message("Content-Type: \(value)x\n\n").root.type == "text/plain")
    }

    /// Linear in the number of continuations.
    @Test(arguments: [
        "a*#=b;", "a*#*=b;", "a#=b;", "a*99999=b;", "filename*#*=%ff;", "filename*0=b;",
    ])
    func thousandsOfContinuationsAreRead(parameter: String) throws {
        for field in ["Content-Type: text/plain", "Content-Disposition: attachment"] {
            let text = (0..<16_000 / parameter.utf8.count).map {
                parameter.replacing("#", with: "\($0)")
            }.joined()
            _ = try message(
                "\(field); \(text.utf8.count < 16_000 ? text : String(text.prefix(16_000)))\n\n")
        }
    }
}
