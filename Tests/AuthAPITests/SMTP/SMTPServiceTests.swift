import HTTPEngine
import Networking
import TestPrimitives
import Testing

@testable import AuthAPI
@testable import LocalMail

/// SMTP over real sockets into the mail of this process.
@Suite struct SMTPServiceTests {
    private static let start = "EHLO c.test\r\nMAIL FROM:<a@there.test>\r\n"

    @Test func aMessageArrivesWithItsTrace() async throws {
        let world = try SMTPWorld()
        let client = world.client()
        try await client.send(
            Self.start + "RCPT TO:<ann@here.test>\r\nRCPT TO:<nobody@here.test>\r\n")
        try await client.send("DATA\r\n")
        #expect(
            try await codes(of: client.receive(through: "354")) == [220, 250, 250, 250, 550, 354])
        try await client.send("Subject: x\r\n\r\n..dot\r\n.\r\nQUIT\r\n")
        #expect(try await codes(of: client.finish()) == [250, 221])
        #expect(
            try await world.messages(of: "ann") == [
                """
                Return-Path: <a@there.test>\r
                Received: from c.test ([127.0.0.1])\r
                \tby mx.here.test with ESMTP\r
                \tfor <ann@here.test>;\r
                \tSun, 06 Nov 1994 08:49:37 +0000\r
                Subject: x\r
                \r
                .dot\r

                """
            ])
        await world.server.drain()
    }

    @Test func severalRecipientsAreNotNamedToEachOther() async throws {
        let world = try SMTPWorld()
        let client = world.client()
        try await client.send(Self.start + "RCPT TO:<ann@here.test>\r\nRCPT TO:<bob@here.test>\r\n")
        try await client.send("RCPT TO:<eve@there.test>\r\nBDAT 2 LAST\r\n\r\n")
        #expect(try await codes(of: client.finish()) == [220, 250, 250, 250, 250, 250, 250])
        for name in ["ann", "bob"] {
            let message = try #require(try await world.messages(of: name).first)
            #expect(!message.contains("@here.test>") && message.hasSuffix("\r\n\r\n"))
        }
        #expect(world.mail.delivered().first?.results.count == 3)
        await world.server.drain()
    }

    @Test(
        arguments: [
            ("ann", "secret", [235, 250]), ("ann", "wrong", [535, 250]),
            ("ann", "busy", [454, 250]), ("ann", "broken", [454, 250]),
            ("bob", "secret", [235, 553]),
        ])
    func anAccountSendsFromItsAddressesOnly(name: String, password: String, codes: [Int])
        async throws
    {
        let world = try SMTPWorld()
        let client = world.client()
        let response = base64("\0\(name)\0\(password)")
        try await client.send(
            "EHLO c.test\r\nAUTH PLAIN \(response)\r\nMAIL FROM:<ann@here.test>\r\n")
        #expect(try await AuthAPITests.codes(of: client.finish()) == [220, 250] + codes)
        await world.server.drain()
        #expect(world.errors.entries.count == (password == "broken" ? 1 : 0))
    }

    @Test func anAddressThatCannotBeLookedUpIsATemporaryFailure() async throws {
        let world = try SMTPWorld()
        let client = world.client()
        try await client.send(Self.start + "RCPT TO:<lost@here.test>\r\nRSET\r\n")
        let response = base64("\0ann\0secret")
        try await client.send("AUTH PLAIN \(response)\r\nMAIL FROM:<lost@here.test>\r\n")
        #expect(
            try await codes(of: client.finish()) == [220, 250, 250, 451, 250, 235, 451])
        await world.server.drain()
    }

    private func base64(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: 3).map { start in
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            return (0..<4).map { index in
                index <= group.count ? String(alphabet[bits >> (18 - 6 * index) & 63]) : "="
            }.joined()
        }.joined()
    }

    static let lineEnds = [
        "\r\n", "\n", "\r", "\r\r", "\n\n", "\n\r", "\r\r\n", "\r\n\n", "\n\r\n",
    ]

    /// SMTP smuggling: every mix of bare CR and LF around a dot, with a second transaction behind.
    @Test func aBareLineEndEndsNothing() async throws {
        let world = try SMTPWorld()
        for before in Self.lineEnds {
            for after in Self.lineEnds {
                let client = world.client()
                try await client.send(Self.start + "RCPT TO:<ann@here.test>\r\nDATA\r\n")
                try await client.send("Subject: a\r\n\r\nb\(before).\(after)")
                try await client.send(
                    "MAIL FROM:<evil@there.test>\r\nRCPT TO:<ann@here.test>\r\nDATA\r\n")
                try await client.send("Subject: evil\r\n\r\n\r\n.\r\n")
                let codes = try await codes(of: client.finish())
                let isEnd =
                    before.utf8.suffix(2).elementsEqual("\r\n".utf8)
                    && after.utf8.prefix(2).elementsEqual("\r\n".utf8)
                let isValid = isEnd && before == "\r\n"
                let name = "\(before.debugDescription) \(after.debugDescription)"
                #expect(
                    codes.prefix(6) == [220, 250, 250, 250, 354, isValid ? 250 : 500], "\(name)")
                // Behind a true end of the message, more commands may follow.
                if !isEnd { #expect(codes.count == 6, "\(name)") }
                let subjects = world.mail.delivered().map(\.content.summary.subject)
                #expect(subjects.contains("a") == isValid, "\(name)")
                if !isEnd { #expect(subjects.isEmpty, "\(name)") }
                world.mail.reset()
            }
        }
        await world.server.drain()
    }

    @Test func aMessageOf10MiBIsDeliveredAndALargerOneIsNot() async throws {
        let world = try SMTPWorld()
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 998) + Array("\r\n".utf8)
        let lines = Array(repeating: line, count: (10 << 20) / 1000).flatMap(\.self)
        for (rest, code) in [((10 << 20) % 1000 - 2, 250), ((10 << 20) % 1000 - 1, 552)] {
            let client = world.client()
            try await client.send(Self.start + "RCPT TO:<ann@here.test>\r\nDATA\r\n")
            try await client.send(lines)
            try await client.send(String(repeating: "x", count: rest) + "\r\n.\r\n")
            #expect(try await codes(of: client.finish()) == [220, 250, 250, 250, 354, code])
        }
        #expect(
            try await world.mail.messages(of: MailAccount(id: "ann", address: ""), page: 1)
                .map { $0.size > 10 << 20 } == [true])
        await world.server.drain()
    }

    @Test func manyConnectionsOfOneClientDeliverLargeMessagesAtOnce() async throws {
        let world = try SMTPWorld()
        let message = String(repeating: "x\r\n", count: 10_000) + ".\r\n"
        let clients = (0..<40).map { _ in world.client() }
        for client in clients {
            try await client.send(Self.start + "RCPT TO:<ann@here.test>\r\nDATA\r\n" + message)
        }
        for client in clients {
            #expect(try await codes(of: client.finish()) == [220, 250, 250, 250, 354, 250])
        }
        #expect(world.mail.delivered().count == 40)
        await world.server.drain()
    }

    @Test func theMessagesThatAreReceivedTakeALimitedNumberOfBytes() async throws {
        let world = try SMTPWorld { $0.heldBytes = 100_000 }
        let client = world.client()
        try await client.send(Self.start + "RCPT TO:<ann@here.test>\r\nDATA\r\n")
        try await client.send(String(repeating: "x\r\n", count: 100_000))
        #expect(
            try await codes(of: client.receive(through: "421")) == [220, 250, 250, 250, 354, 421])
        await world.server.drain()
    }

    @Test func stoppingAnswersAQuestionAndEndsTheSession() async throws {
        let world = try SMTPWorld()
        let (asking, idle) = (world.client(), world.client())
        #expect(try await codes(of: idle.receive(through: "220")) == [220])
        try await asking.send(Self.start + "RCPT TO:<gate@here.test>\r\nNOOP\r\n")
        await world.arrivals.reaches()
        let server = world.server
        async let stopped = server.drain()
        #expect(try await codes(of: idle.receive(through: "421")) == [421])
        world.gate.open()
        #expect(try await codes(of: asking.receive(through: "421")) == [220, 250, 250, 250, 421])
        _ = await stopped
    }

    @Test func oneConnectionTooManyIsToldSo() async throws {
        let world = try SMTPWorld { $0.maxConnections = 1 }
        let first = world.client()
        #expect(try await codes(of: first.receive(through: "220")) == [220])
        #expect(try await world.client().receive(through: nil).hasPrefix("421 4.3.2 "))
        _ = try await first.finish()
        await world.server.drain()
    }

    @Test func theNameThatAClientGivesIsADomainOrLeftOut() {
        func received(_ name: String, from client: IPAddress) -> String {
            let message = SMTPMessage(
                mailFrom: "", recipients: ["a@b", "c@d"], bytes: [], clientName: name, account: nil,
                protocolName: "SMTP")
            let trace = SMTPTrace(
                message: message, client: client, serverName: "s",
                at: MailInstant(milliseconds: 0))
            return String(decoding: trace.bytes, as: UTF8.self)
        }
        #expect(
            received("[IPv6:::1]", from: .loopback)
                == "Return-Path: <>\r\nReceived: from [IPv6:::1] ([127.0.0.1])\r\n"
                + "\tby s with SMTP;\r\n\tThu, 01 Jan 1970 00:00:00 +0000\r\n")
        for name in ["", "a(b", "a;b", "a<b>", "a\"b", "a\\b", "a)"] {
            #expect(received(name, from: .loopback).contains("from unknown ("))
        }
        #expect(received("a", from: IPAddress(v6: 0, 1)).contains("([IPv6:::1])"))
    }
}
