import Testing

@testable import LocalMail

@Suite struct SMTPAuthenticationTests {
    // NUL ann NUL secret, ann NUL ann NUL secret, bob NUL ann NUL secret, NUL ann NUL wrong,
    // NUL busy NUL secret.
    static let plain = "AGFubgBzZWNyZXQ="

    @Test(
        arguments: [
            ("AUTH PLAIN \(plain)\r\n", [235]), ("auth plain\r\n\(plain)\r\n", [334, 235]),
            ("AUTH PLAIN YW5uAGFubgBzZWNyZXQ=\r\n", [235]),
            ("AUTH PLAIN Ym9iAGFubgBzZWNyZXQ=\r\n", [501]),
            ("AUTH PLAIN AGFubgB3cm9uZw==\r\n", [535]),
            ("AUTH PLAIN AGJ1c3kAc2VjcmV0\r\n", [454]),
            ("AUTH PLAIN\r\n*\r\nNOOP\r\n", [334, 501, 250]),
            ("AUTH PLAIN =\r\n", [501]), ("AUTH PLAIN AGFubg=\r\n", [501]),
            ("AUTH PLAIN AGFubgBzZWNyZXR=\r\n", [501]), ("AUTH PLAIN a\u{7F}==\r\n", [501]),
            ("AUTH PLAIN A===\r\n", [501]), ("AUTH PLAIN AAAA\r\n", [501]),
            ("AUTH PLAIN \(plain) x\r\n", [501]), ("AUTH\r\n", [501]), ("AUTH X\r\n", [504]),
            ("AUTH LOGIN\r\nYW5u\r\nc2VjcmV0\r\n", [334, 334, 235]),
            ("AUTH LOGIN YW5u\r\nc2VjcmV0\r\n", [334, 235]),
            ("AUTH LOGIN\r\nYW5u\r\n*\r\n", [334, 334, 501]),
            ("AUTH LOGIN\r\nYW5u\nNOOP\r\nNOOP\r\n", [334, 500, 250]),
            ("AUTH PLAIN \(plain)\r\nAUTH PLAIN \(plain)\r\n", [235, 503]),
            ("MAIL FROM:<>\r\nAUTH PLAIN \(plain)\r\n", [250, 503]),
        ] as [(String, [Int])])
    func anExchangeHasItsReplies(commands: String, codes: [Int]) {
        var driver = SMTPDriver()
        driver.send("EHLO a\r\n" + commands)
        #expect(Array(driver.codes.dropFirst(2)) == codes)
    }

    @Test func aResponseHasAtMost12288Bytes() {
        for (count, code) in [(12_284, 501), (12_288, 500)] {
            var driver = SMTPDriver()
            driver.send("EHLO a\r\nAUTH PLAIN\r\n")
            driver.send(String(repeating: "A", count: count) + "\r\nNOOP\r\n")
            #expect(driver.codes.dropFirst(2) == [334, code, 250])
        }
    }

    @Test func theNameAndPasswordAreAskedFor() {
        var driver = SMTPDriver()
        driver.send("EHLO a\r\nAUTH PLAIN \(Self.plain)\r\n")
        #expect(driver.asked == [.verify(name: "ann", password: "secret")])
    }

    @Test func afterItOnlyTheAccountsAddressesMaySend() {
        var driver = SMTPDriver()
        driver.send("EHLO a\r\nAUTH PLAIN \(Self.plain)\r\n")
        driver.send("MAIL FROM:<bob@here.test>\r\nRCPT TO:<a@b>\r\nMAIL FROM:<>\r\n")
        driver.send("AUTH PLAIN \(Self.plain)\r\n")
        #expect(driver.codes.dropFirst(3) == [553, 503, 553, 503])
        var own = SMTPDriver()
        // NUL a@h NUL secret.
        own.send("EHLO a\r\nAUTH PLAIN AGFAaABzZWNyZXQ=\r\nMAIL FROM:<a@h>\r\n")
        own.send("RCPT TO:<a@b>\r\nDATA\r\n.\r\n")
        #expect(own.codes.dropFirst(2) == [235, 250, 250, 354, 250])
        #expect(own.messages.first?.account == MailAccount(id: "a@h", address: "a@h"))
        #expect(own.messages.first?.protocolName == "ESMTPA")
    }
}
