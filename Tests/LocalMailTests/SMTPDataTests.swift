import Testing

@testable import LocalMail

/// What ends a message, and what does not.
@Suite struct SMTPDataTests {
    @Test(
        arguments: [
            (".\r\n", ""), ("a\r\n.\r\n", "a\r\n"), ("..\r\n.\r\n", ".\r\n"),
            (".a\r\n.\r\n", "a\r\n"), ("...\r\n.\r\n", "..\r\n"), ("a.\r\n.\r\n", "a.\r\n"),
            ("\r\n\r\n.\r\n", "\r\n\r\n"), ("a\r\n..\r\nb\r\n.\r\n", "a\r\n.\r\nb\r\n"),
            ("\u{0}é\r\n.\r\n", "\u{0}é\r\n"),
        ])
    func aDotOnALineEndsTheMessage(sent: String, message: String) {
        var driver = SMTPDriver.inTransaction()
        driver.send("DATA\r\n" + sent + "NOOP\r\n")
        #expect(driver.newCodes == [354, 250, 250])
        #expect(driver.messages.map(\.bytes) == [Array(message.utf8)])
    }

    static let lineEnds = [
        "\r\n", "\n", "\r", "\r\r", "\n\n", "\n\r", "\r\r\n", "\r\n\n", "\n\r\n",
    ]

    /// SMTP smuggling: every mix of bare CR and LF around a dot, with a second transaction behind.
    @Test(arguments: lineEnds.flatMap { before in lineEnds.map { (before, $0) } })
    func aBareLineEndEndsNothing(before: String, after: String) {
        // Where CRLF is right before and after the dot, the message ends there.
        let isEnd =
            before.utf8.suffix(2).elementsEqual("\r\n".utf8)
            && after.utf8.prefix(2).elementsEqual("\r\n".utf8)
        let isValid = before == "\r\n"
        var driver = SMTPDriver.inTransaction()
        driver.send("DATA\r\nSubject: a\r\n\r\nb\(before).\(after)")
        if isEnd {
            // What follows the end may be the start of an invalid command.
            #expect(driver.newCodes.prefix(2) == [354, isValid ? 250 : 500])
            #expect(driver.messages.count == (isValid ? 1 : 0))
            return
        }
        driver.send("MAIL FROM:<evil@b>\r\nRCPT TO:<ann@here.test>\r\nDATA\r\nevil\r\n.\r\n")
        #expect(driver.newCodes == [354, 500])
        #expect(driver.messages.isEmpty)
    }

    @Test func aTrueEndAfterABareLineEndIsFound() {
        for bad in ["a\nb", "a\rb", "\n", "\r.", ".\r.", ".\n"] {
            var driver = SMTPDriver.inTransaction()
            driver.send("DATA\r\n\(bad)\r\n.\r\nNOOP\r\n")
            #expect(driver.newCodes == [354, 500, 250], "\(bad.debugDescription)")
            #expect(driver.messages.isEmpty)
        }
    }

    @Test(arguments: ["NOOP\nNOOP\r\n", "NOOP\rNOOP\r\n", "NOOP\r\r\n", "\nNOOP\r\n", "NOOP\n\r\n"])
    func aCommandWithABareLineEndIsRejectedAsAWhole(line: String) {
        var driver = SMTPDriver()
        driver.send(line)
        #expect(driver.codes == [220, 500])
        driver.send("NOOP\r\n")
        #expect(driver.codes == [220, 500, 250])
    }

    /// A client that ends lines with LF would otherwise wait for a reply that never comes.
    @Test func aBareLineEndIsRejectedBeforeTheLineEnds() {
        var driver = SMTPDriver()
        driver.send("NOOP\nNOOP\n")
        #expect(driver.codes == [220, 500])
        driver.send("NOOP\r")
        driver.send("\nNOOP\r\n")
        #expect(driver.codes == [220, 500, 250])
    }

    /// However the bytes are split, the limit counts that is exceeded first.
    @Test(arguments: [(990, 552), (997, 552), (998, 554), (1010, 554)])
    func ofTwoLimitsTheFirstCounts(messageBytes: Int, code: Int) {
        var limits = SMTPLimits()
        limits.messageBytes = messageBytes
        for piece in [1, 7, 2000] {
            var driver = SMTPDriver.inTransaction(limits)
            driver.send("DATA\r\n")
            let bytes = Array((String(repeating: "x", count: 1200) + "\r\n.\r\n").utf8)
            for start in stride(from: 0, to: bytes.count, by: piece) {
                driver.send(Array(bytes[start..<min(bytes.count, start + piece)]))
            }
            #expect(driver.newCodes == [354, code])
        }
    }

    @Test func aLineHasAtMost998Bytes() {
        let fits = String(repeating: "x", count: 998)
        for (line, code) in [(fits, 250), ("." + fits, 250), (fits + "x", 554)] {
            var driver = SMTPDriver.inTransaction()
            driver.send("DATA\r\n\(line)\r\n.\r\n")
            #expect(driver.newCodes == [354, code])
        }
    }

    @Test func aMessageThatIsTooLargeIsReadToItsEnd() {
        var limits = SMTPLimits()
        limits.messageBytes = 10
        for (text, codes) in [
            ("12345678\r\n.\r\nNOOP\r\n", [354, 250, 250]),
            ("123456789\r\n.\r\nNOOP\r\n", [354, 552, 250]),
            (String(repeating: "1234567890\r\n", count: 9), [354, 421]),
        ] {
            var driver = SMTPDriver.inTransaction(limits)
            driver.send("DATA\r\n" + text)
            #expect(driver.newCodes == codes)
        }
    }

    @Test(
        arguments: [
            ("BDAT 3 LAST\r\na\r\n", [250], "a\r\n"),
            ("BDAT 2\r\na\rBDAT 1 LAST\r\n\n", [250, 250], "a\r\n"),
            ("BDAT 0 LAST\r\n", [250], ""),
            ("BDAT 5\r\n.\r\n.\rBDAT 1\r\n\nBDAT 0 last\r\n", [250, 250, 250], ".\r\n.\r\n"),
            ("BDAT 6 LAST\r\nNOOP\r\nNOOP\r\n", [250, 250], "NOOP\r\n"),
        ])
    func chunksAreTakenByTheirSize(sent: String, codes: [Int], message: String) {
        var driver = SMTPDriver.inTransaction()
        driver.send(sent)
        #expect(driver.newCodes == codes)
        #expect(driver.messages.map(\.bytes) == [Array(message.utf8)])
    }

    @Test(
        arguments: [
            ("BDAT 1 LAST\r\n\n", [500]), ("BDAT 1 LAST\r\n\r", [500]),
            ("BDAT 2\r\nabDATA\r\n", [250, 503]), ("BDAT 2\r\nabRCPT TO:<a@b>\r\n", [250, 503]),
            ("BDAT 2\r\nabRSET\r\nBDAT 4 LAST\r\nNOOP", [250, 250, 503]),
            ("BDAT x\r\n", [421]), ("BDAT\r\n", [421]), ("BDAT -1\r\n", [421]),
            ("BDAT 1 2\r\n", [421]), ("BDAT 99999999999999999999\r\n", [421]),
        ])
    func chunksThatCannotBeTaken(sent: String, codes: [Int]) {
        var driver = SMTPDriver.inTransaction()
        driver.send(sent)
        #expect(driver.newCodes == codes)
        #expect(driver.messages.isEmpty)
    }

    @Test func chunksThatAreTooLargeAreSkipped() {
        var limits = SMTPLimits()
        limits.messageBytes = 5
        var driver = SMTPDriver.inTransaction(limits)
        driver.send("BDAT 4\r\nNOOPBDAT 4\r\nNOOPBDAT 4 LAST\r\nNOOPNOOP\r\n")
        #expect(driver.newCodes == [250, 552, 503, 250])
        #expect(driver.messages.isEmpty)
    }
}
