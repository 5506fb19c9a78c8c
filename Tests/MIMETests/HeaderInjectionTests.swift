import MIME
import Testing

/// No value of a draft can add a field, a part or a line.
@Suite struct HeaderInjectionTests {
    private static let evil = [
        "a\r\nBcc: evil@example.com", "a\nb", "a\rb", "a\u{0}b", "\r\n", "a\u{1B}b", "a\u{7F}b",
    ]

    private func write(_ part: DraftPart, fields: [DraftField] = []) throws {
        let date = try #require(MessageDate(seconds: 0))
        _ = try MessageDraft(fields: fields, body: part)
            .bytes(uniqueId: "id", domain: "example.com", date: date)
    }

    private func expectInvalid(_ field: DraftField, in part: DraftPart = .message(text: "a")) {
        #expect(throws: MIMEError.self, "\(field)") { try write(part, fields: [field]) }
        var part = part
        part.fields = [field]
        #expect(throws: MIMEError.self, "\(field)") { try write(part) }
    }

    @Test(arguments: evil)
    func controlCharactersInFieldsAreErrors(text: String) throws {
        let address = EmailAddress(email: "a@b")
        let values: [DraftValue] = [
            .raw(text), .text(text), .text("é" + text), .messageIds([text]), .urls([text]),
            .addresses([EmailAddress(name: text, email: "a@b")]),
            .addresses([EmailAddress(email: text)]), .addresses([EmailAddress(email: text + "@b")]),
            .addresses([EmailAddress(email: "a@" + text)]),
            .addresses([EmailAddress(email: "\"\(text)\"@b")]),
            .groupedAddresses([AddressGroup(name: text, addresses: [address])]),
        ]
        for value in values { expectInvalid(DraftField("X-Test", value)) }
        expectInvalid(DraftField("X" + text, .text("a")))
    }

    @Test(arguments: evil + ["", " ", "a b", "a;b", "é", "<>", "a\"b"])
    func propertiesOfPartsAreChecked(text: String) throws {
        let attachment = DraftPart(type: "text/x", content: .bytes([]), disposition: "attachment")
        let changes: [(inout DraftPart) -> Void] = [
            { $0.type = text }, { $0.type = "text/" + text }, { $0.type = text + "/plain" },
            { $0.charset = text }, { $0.disposition = text }, { $0.language = ["en", text] },
        ]
        for change in changes {
            var part = attachment
            change(&part)
            #expect(throws: MIMEError.self) { try write(part) }
        }
    }

    @Test(arguments: evil)
    func namesAndIdsOfPartsAreChecked(text: String) throws {
        for disposition in ["inline", nil] {
            for value in [text, "é" + text] {
                let part = DraftPart(
                    type: "image/png", content: .bytes([]), disposition: disposition, name: value)
                #expect(throws: MIMEError.invalidValue("name")) { try write(part) }
            }
        }
        var part = DraftPart(type: "image/png", content: .bytes([]), cid: text)
        #expect(throws: MIMEError.self) { try write(part) }
        part.cid = nil
        part.location = text
        #expect(throws: MIMEError.self) { try write(part) }
        let date = try #require(MessageDate(seconds: 0))
        let draft = MessageDraft(fields: [], body: .message(text: "a"))
        for (id, domain) in [(text, "b"), ("a", text)] {
            #expect(throws: MIMEError.self) {
                try draft.bytes(uniqueId: id, domain: domain, date: date)
            }
        }
    }

    @Test(arguments: [
        "a", "", "@", "a@", "@b", "a@b@c", "a b@c", "a@b c", "a@b,c@d", "a@b>", "<a@b>", "a@b\"",
        "a\"b@c",
        "\"a\"b\"@c", "\"a\\\"@c", "a@b(c)", "a(b)@c", "a;b@c", "a:b@c",
    ])
    func whatIsNotOneAddressIsAnError(email: String) {
        expectInvalid(DraftField("To", .addresses([EmailAddress(email: email)])))
    }

    @Test(arguments: ["", " ", "a b", "a:", "é", "Content-Type", "content-id", "MIME-Version"])
    func namesOfFieldsAreChecked(name: String) {
        #expect(throws: MIMEError.invalidFieldName(name)) {
            try write(.message(text: "a"), fields: [DraftField(name, .text("a"))])
        }
        expectInvalid(DraftField(name, .text("a")))
    }

    @Test func aWordLongerThanALineIsAnError() throws {
        let most = String(repeating: "x", count: 998 - "X: ".utf8.count)
        try write(.message(text: "a"), fields: [DraftField("X", .raw(most))])
        #expect(throws: MIMEError.lineTooLong("X")) {
            try write(.message(text: "a"), fields: [DraftField("X", .raw(most + "x"))])
        }
    }

    @Test func partsAndTypesAgree() throws {
        let leaf = DraftPart(type: "text/plain", content: .text("a"))
        for part in [
            DraftPart(type: "multipart/mixed", content: .parts([])),
            DraftPart(type: "multipart/mixed", content: .text("a")),
            DraftPart(type: "multipart/mixed", content: .bytes([])),
            DraftPart(type: "text/plain", content: .parts([leaf])),
            DraftPart(type: "image/png", content: .text("a")),
        ] {
            #expect(throws: MIMEError.invalidValue("type")) { try write(part) }
        }
    }
}
