import AuthCore
import Testing

@testable import Mailing

@Suite struct MailMessageTests {
    private func message(_ notice: UserNotice = .passwordChanged) -> String {
        let mail = Samples.notice(notice)
        return String(
            decoding: MailMessage(
                sender: Samples.sender(), recipient: Samples.email(), text: Samples.text(mail),
                id: "0123abc", time: mail.time
            ).bytes, as: UTF8.self)
    }

    @Test func theHeadIsThatOfAMessageThatNoProgramAnswers() throws {
        let head = try #require(message().components(before: "\r\n\r\n"))
        #expect(
            head == """
                From: "Postern" <postern@example.com>\r
                To: ada@example.org\r
                Subject: Your password was changed at auth.example.com\r
                Date: Sun, 06 Nov 1994 08:49:37 +0000\r
                Message-ID: <0123abc@example.com>\r
                Auto-Submitted: auto-generated\r
                MIME-Version: 1.0\r
                Content-Type: multipart/alternative;\r
                 boundary="=_0123abc"
                """)
    }

    @Test func thePlainFormComesFirst() throws {
        let text = message()
        let plain = try #require(text.range(of: "Content-Type: text/plain; charset=utf-8\r\n"))
        let html = try #require(text.range(of: "Content-Type: text/html; charset=utf-8\r\n"))
        #expect(plain < html)
        #expect(text.hasSuffix("--=_0123abc--\r\n"))
    }

    @Test func everyLineIsShortASCIIThatEndsWithCRLF() {
        let bytes = Array(message(.passkeyAdded(name: "Ünïcödé, “quoted” \u{1F511}")).utf8)
        #expect(bytes.allSatisfy { $0 < 0x80 })
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
        #expect(lines.dropLast().allSatisfy { $0.last == 0x0d && $0.count <= 79 })
        #expect(lines.allSatisfy { !$0.dropLast().contains(0x0d) })
    }

    /// A name is the only text that a client has chosen.
    @Test(arguments: [
        "\r\n--=_0123abc--\r\nevil", "\r\nBcc: eve@example.org\r\n\r\n", "a\u{2028}b\u{202E}c",
        ".\r\n.\r\n", "<script>alert(1)</script>", "</a><a href=\"https://evil.example\">",
    ])
    func aNameChangesNeitherTheHeadNorTheParts(name: String) {
        let (plain, named) = (message(), message(.passkeyAdded(name: name)))
        #expect(named.count(of: "\r\n--=_0123abc") == plain.count(of: "\r\n--=_0123abc"))
        #expect(!named.contains("\r\nBcc:"))
        let text = Samples.text(Samples.notice(.passkeyAdded(name: name)))
        #expect(!text.html.contains("<script"))
        #expect(!text.html.contains("<a href=\"https://evil"))
        #expect(!text.html.contains("\"https://evil"))
        #expect(!text.plain.unicodeScalars.contains("\u{202E}"))
        #expect(text.plain.count(of: "\n") == Samples.text(Samples.notice()).plain.count(of: "\n"))
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a=b", "a=3Db"), ("end ", "end=20"),
        ("a\nb\n", "a\r\nb\r\n"),
        ("é", "=C3=A9"), ("tab\tx", "tab=09x"),
        (String(repeating: "x", count: 76), String(repeating: "x", count: 76)),
        (
            String(repeating: "x", count: 77),
            String(repeating: "x", count: 75) + "=\r\nxx"
        ),
        (String(repeating: "x", count: 74) + "=", String(repeating: "x", count: 74) + "=\r\n=3D"),
    ])
    func quotedPrintable(text: String, encoded: String) {
        #expect(QuotedPrintable.encode(text) == encoded)
    }
}

@Suite struct MailTextTests {
    @Test func linksAreOnThePublicURLAndHaveTheTokenInTheirFragment() throws {
        let token = try #require(EmailLinkToken(String(repeating: "A", count: 43)))
        for (content, path) in [
            (UserMail.Content.passwordReset(token), "reset-password"),
            (.emailVerification(token), "verify-email"),
        ] {
            let mail = UserMail(to: Samples.user, content, time: Instant(seconds: 0))
            let link = "https://auth.example.com/\(path)#\(String(repeating: "A", count: 43))"
            let text = Samples.text(mail)
            #expect(text.plain.contains("\n\n\(link)\n\n"))
            #expect(text.html.contains("<a href=\"\(link)\">"))
            #expect(!text.subject.contains("AAAA"))
        }
    }

    @Test func aNoticeSaysWhatWhenAndFromWhere() {
        let text = Samples.text(Samples.notice(.passkeyAdded(name: "Phone <1>")))
        for part in ["“Phone <1>”", "1994-11-06T08:49:37Z", "192.0.2.7", "/dashboard"] {
            #expect(text.plain.contains(part), "\(part)")
        }
        #expect(text.html.contains("“Phone &lt;1&gt;”"))
    }

    @Test(arguments: [
        UserNotice.passwordChanged, .passwordReset, .passkeyAdded(name: "n"),
        .passkeyRemoved(name: "n"), .totpEnabled, .totpDisabled, .recoveryCodesReplaced,
        .recoveryCodeUsed, .providerLinked(name: "n"), .providerUnlinked(name: "n"),
    ])
    func everySubjectIsASCII(notice: UserNotice) {
        let subject = Samples.text(Samples.notice(notice)).subject
        #expect(subject.utf8.allSatisfy { (0x20...0x7e).contains($0) })
        #expect(subject.utf8.count < 70)
    }
}

@Suite struct MailAddressTests {
    @Test(arguments: [
        ("postern@example.com", nil, "postern@example.com"),
        ("Postern <postern@example.com>", "Postern", "postern@example.com"),
        ("  The  Post, Inc.  <p@example.com>", "The  Post, Inc.", "p@example.com"),
    ])
    func anAddressMayHaveAName(text: String, name: String?, email: String) throws {
        let address = try #require(MailAddress(text))
        #expect(address.name == name)
        #expect(address.email.text == email)
        #expect(MailAddress(address.text) == address)
    }

    @Test(arguments: [
        "", "postern", "<p@example.com>", "A <p@example.com", "A p@example.com>",
        "A \"b\" <p@example.com>", "A \\ <p@example.com>", "A <b> <p@example.com>",
        "A\r\nBcc: x <p@example.com>", "Ä <p@example.com>", "A <p@localhost>",
        "A <p@example.com, q@example.com>",
    ])
    func whatIsNotOneAddressIsRejected(text: String) {
        #expect(MailAddress(text) == nil)
    }
}

extension String {
    fileprivate func components(before separator: String) -> String? {
        range(of: separator).map { String(self[..<$0]) }
    }

    /// Where a text begins.
    fileprivate func range(of text: String) -> String.Index? {
        let (bytes, part) = (Array(utf8), Array(text.utf8))
        guard bytes.count >= part.count else { return nil }
        for start in 0...(bytes.count - part.count)
        where bytes[start...].starts(with: part) {
            return utf8.index(startIndex, offsetBy: start)
        }
        return nil
    }

    fileprivate func count(of text: String) -> Int {
        let (bytes, part) = (Array(utf8), Array(text.utf8))
        guard bytes.count >= part.count else { return 0 }
        return (0...(bytes.count - part.count)).count { bytes[$0...].starts(with: part) }
    }
}
