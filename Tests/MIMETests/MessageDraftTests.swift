import MIME
import Testing

@Suite struct MessageDraftTests {
    private let date = MessageDate(seconds: 880_127_706, offsetMinutes: -360)

    private func write(
        _ body: DraftPart = .message(text: "Hello"), fields: [DraftField] = []
    ) throws -> [UInt8] {
        try MessageDraft(fields: fields, body: body)
            .bytes(uniqueId: "id1", domain: "example.com", date: try #require(date))
    }

    private func header(_ field: DraftField) throws -> HeaderField {
        let bytes = try write(fields: [field])
        try expectLines(bytes)
        return try #require(try HeaderFields(of: bytes).last(field.name))
    }

    /// Lines end with CRLF, and are short.
    private func expectLines(_ bytes: [UInt8]) throws {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        #expect(lines.dropLast().allSatisfy { $0.last == 13 && $0.count <= 999 })
        #expect(bytes.count { $0 == 13 } == bytes.count { $0 == 10 })
    }

    @Test func aMessageHasTheFieldsThatItNeeds() throws {
        let header = try HeaderFields(of: write())
        #expect(header.fields.map(\.name).prefix(3) == ["Date", "Message-ID", "MIME-Version"])
        #expect(header.last("Date")?.raw == " Fri, 21 Nov 1997 09:55:06 -0600")
        #expect(header.messageId == ["id1@example.com"])
        let own = [
            DraftField("message-id", .messageIds(["a@b"])),
            DraftField("DATE", .date(try #require(MessageDate(seconds: 0)))),
        ]
        let kept = try HeaderFields(of: write(fields: own))
        #expect(kept.all("Message-ID").count == 1 && kept.messageId == ["a@b"])
        #expect(kept.all("Date").count == 1 && kept.sentAt?.seconds == 0)
    }

    @Test(arguments: [
        "Hello", "", "Grüße aus München ✓", String(repeating: "wörter ", count: 200) + "x",
        String(repeating: "word ", count: 300) + "x", "=?utf-8?Q?a?=", "a  b", "日本語の件名" + "🙂🙂🙂🙂🙂🙂",
        String(repeating: "日本", count: 200), "\"quoted\" (c) <x>, y: z;", "a\tb",
    ])
    func textsAreReadAsWritten(text: String) throws {
        #expect(try header(DraftField("Subject", .text(text))).text == text)
    }

    @Test func aRawValueIsWrittenAsItIs() throws {
        let value = "a; b=\"=?utf-8?Q?c?=\""
        #expect(try header(DraftField("X-Raw", .raw(value))).raw == " " + value)
        #expect(try header(DraftField("X-Raw", .raw("é"))).text == "é")
    }

    @Test(arguments: [
        EmailAddress(email: "a@b.example"), EmailAddress(name: "Bob", email: "a@b.example"),
        EmailAddress(name: "Doe, \"John\" \\ (x) <y@z>: ;", email: "a@b.example"),
        EmailAddress(name: "Jürgen Müller-Lüdenscheidt", email: "j@b.example"),
        EmailAddress(name: String(repeating: "長い名前", count: 40), email: "j@b.example"),
        EmailAddress(name: "=?utf-8?Q?x?= <evil@example.com>,", email: "a@b.example"),
        EmailAddress(email: "\"a b\"@b.example"), EmailAddress(email: "a@[IPv6:::1]"),
        EmailAddress(email: "jörg@exämple.org"), EmailAddress(email: "a+b=c@sub.b.example"),
        EmailAddress(name: "a@b.example", email: "c@d.example"),
    ])
    func addressesAreReadAsWritten(address: EmailAddress) throws {
        #expect(try header(DraftField("To", .addresses([address]))).addresses == [address])
        let many = [EmailAddress](repeating: address, count: 100)
        #expect(try header(DraftField("To", .addresses(many))).addresses == many)
    }

    @Test func groupsAreReadAsWritten() throws {
        let groups = [
            AddressGroup(
                name: "Überall, \"x\"", addresses: [EmailAddress(name: "ä", email: "a@b")]),
            AddressGroup(addresses: [EmailAddress(email: "c@d"), EmailAddress(email: "e@f")]),
            AddressGroup(name: "Empty", addresses: []),
        ]
        #expect(try header(DraftField("Cc", .groupedAddresses(groups))).groupedAddresses == groups)
    }

    @Test func aFieldWithoutAddressesIsNotWritten() throws {
        let values: [DraftValue] = [
            .addresses([]), .groupedAddresses([]), .messageIds([]), .urls([]),
            .groupedAddresses([AddressGroup(addresses: [])]),
        ]
        let fields = values.map { DraftField("X", $0) }
        #expect(try HeaderFields(of: write(fields: fields)).all("X").isEmpty)
        #expect(try header(DraftField("Subject", .text(""))).raw == " ")
    }

    @Test func idsUrlsAndDatesAreReadAsWritten() throws {
        let ids = (0..<100).map { "\($0)@example.com" }
        #expect(try header(DraftField("References", .messageIds(ids))).messageIds == ids)
        let urls = ["mailto:a@b?subject=x", "https://example.com/a(b),c"]
        #expect(try header(DraftField("List-Post", .urls(urls))).urls == urls)
        for seconds in [0, 951_782_400, 253_402_214_399] as [Int64] {
            for offset in [-720, -1, 0, 330, 845] {
                let date = MessageDate(seconds: seconds, offsetMinutes: offset)
                #expect(try header(DraftField("Resent-Date", .date(#require(date)))).date == date)
            }
        }
    }

    @Test(arguments: [
        "", "Hello", "a\nb\n", "a\nb", "\n\n", "tränen\nlügen", " trailing \nspace\t\n",
        "=3D = =\n",
        "From me\n.\n..\n", String(repeating: "x", count: 998), String(repeating: "x", count: 999),
        String(repeating: "日本語", count: 5_000), "\u{0}\u{1B}", "--=_id1_1\n--\n", "🙂\n",
        String(repeating: "long line ", count: 1_000) + "é",
    ])
    func textsOfBodiesAreReadAsWritten(text: String) throws {
        let body = DraftPart.message(text: text, html: "<p>\(text)</p>")
        let bytes = try write(body)
        try expectLines(bytes)
        let message = try ParsedMessage(bytes)
        #expect(outline(message.root) == "multipart/alternative(text/plain, text/html)")
        let decoded = message.text(of: message.textBody[0])
        #expect(decoded.text == text && !decoded.isEncodingProblem)
        #expect(message.text(of: message.htmlBody[0]).text == "<p>\(text)</p>")
        #expect(message.textBody[0].charset == "utf-8")
    }

    @Test func lineBreaksOfTextsBecomeCRLF() throws {
        let message = try ParsedMessage(write(.message(text: "a\r\nb\rc\nd")))
        #expect(message.content(of: message.root) == Array("a\r\nb\r\nc\r\nd".utf8))
    }

    @Test(arguments: [
        ("Hello", "7bit"), ("é", "base64"), ("some wörds in text", "quoted-printable"),
        (String(repeating: "x", count: 999), "quoted-printable"), ("日本語", "base64"),
    ])
    func theTransferEncodingSuitsTheText(text: String, coding: String) throws {
        let header = try HeaderFields(of: write(.message(text: text)))
        #expect(header.last("Content-Transfer-Encoding")?.text == coding)
    }

    @Test func bytesAreReadAsWritten() throws {
        var generator = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        generator += [13, 10, 10, 13, 0]
        for bytes in [generator, [], [0], crlf("text\n"), Array("bare\nfeeds\r".utf8)] {
            var part = DraftPart(
                type: "application/octet-stream", content: .bytes(bytes),
                disposition: "attachment", name: "a.bin")
            part.charset = "x-none"
            let written = try write(.message(text: "a", attachments: [part]))
            try expectLines(written)
            let message = try ParsedMessage(written)
            let read = try #require(message.attachments.first)
            #expect(message.content(of: read) == bytes && read.size == bytes.count)
            #expect(read.charset == "x-none")
        }
    }

    @Test func theUsualStructureIsBuilt() throws {
        var image = DraftPart(
            type: "image/png", content: .bytes([1, 2, 3]), disposition: "inline", name: "Füße.png",
            cid: "logo@x")
        image.language = ["de", "en-GB"]
        image.location = "https://example.com/logo.png"
        image.fields = [DraftField("Content-Description", .text("Größe"))]
        let pdf = DraftPart(
            type: "Application/PDF", content: .bytes([4]), disposition: "attachment",
            name: String(repeating: "sehr länger Name ", count: 20) + ".pdf")
        let body = DraftPart.message(text: "a", html: "b", inline: [image], attachments: [pdf])
        let bytes = try write(body)
        try expectLines(bytes)
        let message = try ParsedMessage(bytes)
        #expect(
            outline(message.root)
                == "multipart/mixed(multipart/alternative(text/plain, multipart/related(text/html, image/png)), application/pdf)"
        )
        let read = try #require(message.part("1.2.2"))
        #expect(read.name == "Füße.png" && read.cid == "logo@x" && read.disposition == "inline")
        #expect(read.language == ["de", "en-GB"])
        #expect(read.location == "https://example.com/logo.png")
        #expect(read.header.last("Content-Description")?.text == "Größe")
        #expect(message.part("2")?.name == pdf.name)
        #expect(message.hasAttachment)
        #expect(outline(try ParsedMessage(write(.message(text: nil))).root) == "text/plain")
        #expect(
            outline(try ParsedMessage(write(.message(text: nil, html: "x"))).root) == "text/html")
    }

    /// RFC 2046 §5.2.1.
    @Test func aMessageWithinAMessageIsNotEncoded() throws {
        let inner = try Samples.bytes("forwarded")
        let part = DraftPart(type: "message/rfc822", content: .bytes(inner))
        let message = try ParsedMessage(write(.message(text: "a", attachments: [part])))
        let read = try #require(message.attachments.first)
        #expect(read.header.last("Content-Transfer-Encoding")?.text == "7bit")
        #expect(message.content(of: read) == inner)
        for (bytes, coding) in [([0xE9], "8bit"), ([0], "base64")] as [([UInt8], String)] {
            let part = DraftPart(type: "message/rfc822", content: .bytes(bytes))
            let message = try ParsedMessage(write(part))
            #expect(message.header.last("Content-Transfer-Encoding")?.text == coding)
            #expect(message.content(of: message.root) == bytes)
        }
    }

    @Test func aDraftIsAsDeepAndHasAsManyPartsAsCanBeRead() throws {
        func nested(_ depth: Int) -> DraftPart {
            let text = DraftPart(type: "text/plain", content: .text("x"))
            return (0..<depth).reduce(text) { part, _ in
                DraftPart(type: "multipart/mixed", content: .parts([part]))
            }
        }
        #expect(try ParsedMessage(write(nested(64))).preview == "x")
        #expect(throws: MIMEError.tooManyParts) { try write(nested(65)) }
        func flat(_ count: Int) -> DraftPart {
            DraftPart(
                type: "multipart/mixed",
                content: .parts(.init(repeating: nested(0), count: count)))
        }
        #expect(try ParsedMessage(write(flat(998))).root.subParts?.count == 998)
        #expect(throws: MIMEError.tooManyParts) { try write(flat(1_000)) }
    }
}
