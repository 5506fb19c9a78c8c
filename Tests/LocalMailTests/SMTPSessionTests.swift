import TestPrimitives
import Testing

@testable import LocalMail

@Suite struct SMTPSessionTests {
    @Test func aSessionDeliversAMessage() {
        var driver = SMTPDriver()
        driver.send("EHLO client.test\r\nMAIL FROM:<a@b.test> SIZE=10 BODY=8BITMIME\r\n")
        driver.send("RCPT TO:<ann@here.test>\r\nRCPT TO:<bob@there.test>\r\nDATA\r\n")
        driver.send("Subject: x\r\n\r\n..dot\r\n.\r\nQUIT\r\n")
        #expect(driver.codes == [220, 250, 250, 250, 250, 354, 250, 221])
        #expect(driver.isClosed)
        #expect(
            driver.messages == [
                SMTPMessage(
                    mailFrom: "a@b.test", recipients: ["ann@here.test", "bob@there.test"],
                    bytes: Array("Subject: x\r\n\r\n.dot\r\n".utf8), clientName: "client.test",
                    account: nil, protocolName: "ESMTP")
            ])
        for line in ["250-SIZE 10485760", "250-PIPELINING", "250-CHUNKING", "250-SMTPUTF8"] {
            #expect(driver.text.contains("\(line)\r\n"))
        }
    }

    /// Each line of a session and the codes of its replies.
    @Test(
        arguments: [
            ("NOOP\r\n", [250]), ("noop ignored\r\n", [250]), ("HELP\r\n", [214]),
            ("VRFY ann\r\n", [252]), ("VRFY\r\n", [501]), ("EXPN all\r\n", [502]),
            ("RSET\r\n", [250]), ("", []), ("\r\n", [500]), ("WHAT\r\n", [500]),
            ("MAIL FROM:<a@b>\r\n", [503]), ("RCPT TO:<a@b>\r\n", [503]), ("DATA\r\n", [503]),
            ("HELO\r\n", [501]), ("EHLO a b\r\n", [501]), ("EHLO [127.0.0.1]\r\n", [250]),
            ("EHLO a\r\nMAIL FROM:a@b\r\n", [250, 501]),
            ("EHLO a\r\nMAIL FROM:<a@b\r\n", [250, 501]),
            ("EHLO a\r\nMAIL FROM:<>\r\nMAIL FROM:<>\r\n", [250, 250, 503]),
            ("EHLO a\r\nMAIL FROM:<a@b> SIZE=10485761\r\n", [250, 552]),
            ("EHLO a\r\nMAIL FROM:<a@b> SIZE=99999999999999999999\r\n", [250, 552]),
            ("EHLO a\r\nMAIL FROM:<a@b> SIZE=-1\r\n", [250, 501]),
            ("EHLO a\r\nMAIL FROM:<a@b> SIZE=1 SIZE=1\r\n", [250, 501]),
            ("EHLO a\r\nMAIL FROM:<a@b> BODY=BINARYMIME\r\n", [250, 501]),
            ("EHLO a\r\nMAIL FROM:<a@b> FUTURE\r\n", [250, 555]),
            ("EHLO a\r\nMAIL FROM:<a@b>SIZE=1\r\n", [250, 501]),
            ("EHLO a\r\nMAIL FROM:<a@b> AUTH=<>\r\n", [250, 250]),
            ("HELO a\r\nMAIL FROM:<a@b> SIZE=1\r\n", [250, 555]),
            ("EHLO a\r\nMAIL FROM:<é@b>\r\n", [250, 550]),
            ("EHLO a\r\nMAIL FROM:<é@b> SMTPUTF8\r\nRCPT TO:<é@b>\r\n", [250, 250, 250]),
            ("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<é@b>\r\n", [250, 250, 553]),
            ("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<>\r\n", [250, 250, 501]),
            ("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<a@b> NOTIFY=NEVER\r\n", [250, 250, 555]),
            ("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<nobody@here.test>\r\n", [250, 250, 550]),
            ("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<full@here.test>\r\n", [250, 250, 452]),
            ("EHLO a\r\nMAIL FROM:<>\r\nDATA\r\n", [250, 250, 554]),
            ("EHLO a\r\nMAIL FROM:<>\r\nRSET\r\nRCPT TO:<a@b>\r\n", [250, 250, 250, 503]),
            ("EHLO a\r\nMAIL FROM:<>\r\nEHLO a\r\nRCPT TO:<a@b>\r\n", [250, 250, 250, 503]),
            ("QUIT\r\nNOOP\r\n", [221]), ("POST / HTTP/1.1\r\nNOOP\r\n", [421]),
            ("AUTH PLAIN\r\n", [503]),
        ] as [(String, [Int])])
    func aCommandHasItsReply(commands: String, codes: [Int]) {
        var driver = SMTPDriver()
        driver.send(commands)
        #expect(Array(driver.codes.dropFirst()) == codes)
    }

    @Test func everySplitOfASessionHasTheSameReplies() {
        let bytes = Array(
            """
            EHLO a|AUTH LOGIN|YUBo|c2VjcmV0|MAIL FROM:<a@h>|RCPT TO:<b@here.test>|DATA|Subject: s||
            ..x|.|MAIL FROM:<a@h>|RCPT TO:<b@c>|BDAT 4|a|b\u{7}BDAT 3 LAST|c|NOOP|bad\u{0}|QUIT|NOOP|
            """.replacing("\n", with: "").replacing("\u{7}", with: "").replacing("|", with: "\r\n")
                .utf8)
        var whole = SMTPDriver()
        whole.send(bytes)
        #expect(whole.messages.count == 2)
        #expect(whole.codes.last == 221)
        for split in 0...bytes.count {
            var driver = SMTPDriver()
            driver.send(Array(bytes[..<split]))
            driver.send(Array(bytes[split...]))
            #expect(driver.output == whole.output, "split at \(split)")
            #expect(driver.asked == whole.asked, "split at \(split)")
        }
        var dripping = SMTPDriver()
        for byte in bytes { dripping.send([byte]) }
        #expect(dripping.output == whole.output)
        #expect(dripping.asked == whole.asked)
    }

    @Test func whatComesWhileAnAnswerIsOutstandingWaits() {
        var session = SMTPSession(serverName: "x")
        Array("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<a@b>\r\nQUIT\r\n".utf8)
            .withUnsafeBytes { session.receive($0) }
        guard case .send? = session.next(), case .checkRecipient("a@b")? = session.next() else {
            Issue.record("no question")
            return
        }
        #expect(session.next() == nil)
        #expect(session.timer.limit == nil)
        [UInt8](repeating: 0x0A, count: 65_536).withUnsafeBytes { session.receive($0) }
        #expect(!session.wantsInput)
        session.answer(.accepted)
        guard case .send(let bytes)? = session.next() else {
            Issue.record("no reply")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").count == 2)
        #expect(session.next() == .close(lingers: false))
        #expect(session.next() == nil)
        #expect(!session.wantsInput)
    }

    @Test(arguments: [SMTPEnd.time, .memory, .shutdown])
    func aQuestionIsAnsweredBeforeTheEnd(reason: SMTPEnd) {
        var session = SMTPSession(serverName: "x")
        Array("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<a@b>\r\nRCPT TO:<b@b>\r\n".utf8)
            .withUnsafeBytes { session.receive($0) }
        while let action = session.next(), action != .checkRecipient("a@b") {}
        for _ in 0..<2 {
            session.end(reason)
            #expect(session.next() == nil)
            #expect(!session.wantsInput && session.heldBytes == 0)
        }
        session.answer(.accepted)
        guard case .send(let bytes)? = session.next() else {
            Issue.record("no reply")
            return
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        #expect(lines.map { String($0.prefix(4)) } == ["250 ", "421 "])
        #expect(session.next() == .close(lingers: true))
        #expect(session.next() == nil)
    }

    @Test func whatHasArrivedIsServedBeforeTheEndOfInput() {
        var driver = SMTPDriver()
        driver.send("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<a@b>\r\nDATA\r\nx\r\n.\r\nNOO")
        driver.end(.input)
        #expect(driver.codes == [220, 250, 250, 250, 354, 250])
        #expect(driver.isClosed && driver.lingers == false)
        #expect(driver.messages.count == 1)
    }

    @Test func theBytesThatAreHeldAreKnown() {
        var driver = SMTPDriver.inTransaction()
        #expect(driver.session.heldBytes == 0)
        driver.send("DATA\r\n12345\r\n.")
        #expect(driver.session.heldBytes == 7)
        driver.send("\r\n")
        #expect(driver.session.heldBytes == 0)
        driver.send("MAIL FROM:<>\r\nRCPT TO:<a@b>\r\nBDAT 3\r\nabcNOO")
        #expect(driver.session.heldBytes == 3)
    }

    @Test func tooManyErrorsEndTheSession() {
        var driver = SMTPDriver()
        driver.send(String(repeating: "X\r\n", count: 20))
        #expect(driver.codes == [220] + Array(repeating: 500, count: 10) + [421])
        #expect(driver.isClosed)
    }

    @Test func tooManyCommandsWithoutAMessageEndTheSession() {
        var driver = SMTPDriver()
        driver.send(String(repeating: "NOOP\r\n", count: 1001))
        #expect(driver.codes.last == 421)
        #expect(driver.codes.count == 1002)
    }

    @Test func recipientsAreLimited() {
        var limits = SMTPLimits()
        limits.recipients = 2
        var driver = SMTPDriver(limits: limits)
        driver.send("EHLO a\r\nMAIL FROM:<>\r\n")
        for name in ["a", "b", "c"] { driver.send("RCPT TO:<\(name)@b>\r\n") }
        driver.send("DATA\r\n.\r\n")
        #expect(driver.codes == [220, 250, 250, 250, 250, 452, 354, 250])
        #expect(driver.messages.first?.recipients == ["a@b", "b@b"])
    }

    @Test func aMessageIsAcceptedIfOneRecipientHasIt() {
        var driver = SMTPDriver()
        driver.send("EHLO a\r\nMAIL FROM:<>\r\nRCPT TO:<late@here.test>\r\nDATA\r\n.\r\n")
        driver.send("MAIL FROM:<>\r\nRCPT TO:<late@here.test>\r\nRCPT TO:<a@b>\r\nDATA\r\n.\r\n")
        #expect(driver.codes == [220, 250, 250, 250, 354, 452, 250, 250, 250, 354, 250])
        #expect(driver.text.contains("1 of 2"))
    }

    @Test(
        arguments: [
            ("NOOP " + String(repeating: "x", count: 505), 250),
            ("NOOP " + String(repeating: "x", count: 506), 500),
            ("MAIL FROM:<> AUTH=" + String(repeating: "x", count: 1045), 250),
            ("MAIL FROM:<> AUTH=" + String(repeating: "x", count: 1046), 500),
            (String(repeating: "x", count: 12_287), 500),
            (String(repeating: "x", count: 12_288 * 4), 421),
        ])
    func linesAreBounded(line: String, code: Int) {
        var driver = SMTPDriver()
        driver.send("EHLO a\r\n")
        driver.send(line + "\r\n")
        #expect(driver.codes == [220, 250, code])
    }

    @Test func timeIsLimitedByCommandAndByMessage() {
        var driver = SMTPDriver()
        #expect(driver.session.timer.limit == .seconds(60))
        let first = driver.session.timer
        driver.send("EHL")
        #expect(driver.session.timer == first)
        driver.send("O a\r\n")
        #expect(driver.session.timer != first)
        driver.send("MAIL FROM:<>\r\nRCPT TO:<a@b>\r\nDATA\r\n")
        let data = driver.session.timer
        #expect(data.limit == .seconds(180))
        driver.send("Dripping does not extend it\r\n")
        #expect(driver.session.timer == data)
        driver.end(.time)
        #expect(driver.codes.last == 421)
        #expect(driver.isClosed)
        driver.send(".\r\n")
        #expect(driver.messages.isEmpty)
    }

    @Test func randomBytesNeverStopTheSession() {
        var generator = SeededGenerator(seed: 7)
        let words = [
            "EHLO a", "MAIL FROM:<a@b>", "RCPT TO:<ann@here.test>", "DATA", "BDAT 3", "BDAT 3 LAST",
            "\r\n", "\r\n", "\r", "\n", ".", "\r\n.\r\n", "AUTH PLAIN", "AUTH LOGIN", "*", "=", "x",
            "\0", "é", "SIZE=1", " ", "<", "RSET", "AHh4AHNlY3JldA==", "\"", "\\",
        ]
        for _ in 0..<2000 {
            var limits = SMTPLimits()
            limits.messageBytes = 40
            limits.errors = 1000
            var driver = SMTPDriver(limits: limits)
            driver.send("EHLO a\r\nMAIL FROM:<a@b>\r\nRCPT TO:<ann@here.test>\r\n")
            for _ in 0..<40 {
                let word = words[Int.random(in: 0..<words.count, using: &generator)]
                driver.send(word)
            }
            for message in driver.messages {
                #expect(message.bytes.count <= 40)
                #expect(!SMTPTransaction.hasBareLineEnd(message.bytes))
            }
        }
    }
}
