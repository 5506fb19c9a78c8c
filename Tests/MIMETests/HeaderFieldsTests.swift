import MIME
import Testing

@Suite struct HeaderFieldsTests {
    private func header(_ text: String) throws -> HeaderFields {
        try HeaderFields(of: Array(text.utf8))
    }

    @Test func fieldsKeepTheirOrderNamesAndValues() throws {
        let header = try header("b: 1\r\nA:2\r\nb:\r\n 3\r\nC : 4\n\r\nd: 5")
        #expect(header.fields.map(\.name) == ["b", "A", "b", "C"])
        #expect(header.fields.map(\.raw) == [" 1", "2", "\r\n 3", " 4"])
        #expect(header.all("B").count == 2)
        #expect(header.last("B")?.text == "3")
        #expect(header.last("d") == nil)
    }

    @Test func theConvenientPropertiesAreThoseOfTheLastField() throws {
        let header = try Samples.message("attachment").header
        #expect(header.from == [EmailAddress(name: "Smith, Bob", email: "bob@example.org")])
        #expect(
            header.to?.map(\.email) == ["ann@example.com", "carl@example.com", "dana@example.com"])
        #expect(header.to?.last?.name == "Dana Müller")
        #expect(header.cc == [])
        #expect(header.bcc == nil && header.sender == nil)
        #expect(header.replyTo == [EmailAddress(email: "office@example.org")])
        #expect(header.subject == "Re: Fwd: [team] the report")
        #expect(header.inReplyTo == ["first@example.com"])
        #expect(header.references == ["first@example.com", "second@example.com"])
        #expect(header.messageId == ["third@example.org"])
        #expect(try header.sentAt?.rfc3339() == "2024-10-02T23:59:59-05:00")
        #expect(try self.header("Subject: a\r\nSubject: b\r\n\r\n").subject == "b")
    }

    /// The body is shown rather than lost.
    @Test(arguments: [
        ("a: 1\r\nno field\r\nb: 2\r\n\r\nx", "no field\nb: 2\n\nx"), ("just text", "just text"),
        (" starts with space\r\na: b", " starts with space\na: b"), ("\r\na: 1", "a: 1"),
        ("é: 1\r\n\r\n", "é: 1\n\n"), (": no name", ": no name"), ("a b: c", "a b: c"), ("", ""),
    ])
    func aLineThatIsNoFieldBeginsTheBody(text: String, body: String) throws {
        let message = try ParsedMessage(Array(text.utf8))
        #expect(message.text(of: message.root).text == body)
    }

    @Test func theFirstLineOfAMailboxFileIsNotPartOfTheMessage() throws {
        #expect(try header("From a@b Mon Mar  3\na: 1\n\n").fields.map(\.name) == ["a"])
        #expect(try header("a: 1\nFrom a@b Mon Mar  3\nb: 2\n\n").fields.map(\.name) == ["a"])
    }

    @Test func aThousandFieldsAreRead() throws {
        let fits = try header(String(repeating: "a: 1\r\n", count: 1_000) + "\r\nbody")
        #expect(fits.fields.count == 1_000 && !fits.isTruncated)
        let message = try ParsedMessage(
            Array((String(repeating: "a: 1\r\n", count: 1_001) + "\r\nbody").utf8))
        #expect(message.header.fields.count == 1_000 && message.header.isTruncated)
        #expect(message.text(of: message.root).text == "body")
    }

    @Test func aQuarterMebibyteOfFieldsIsRead() throws {
        let most = String(repeating: "x", count: 262_144 - "a:".utf8.count)
        let fits = try header("a:\(most)\r\n\r\n")
        #expect(fits.fields.count == 1 && !fits.isTruncated)
        let message = try ParsedMessage(Array("a:\(most)y\r\nb: 1\r\n\r\nbody".utf8))
        #expect(message.header.fields.isEmpty && message.header.isTruncated)
        #expect(message.text(of: message.root).text == "body")
    }
}
