import Glibc
import Synchronization
import TestPrimitives
import Testing

@testable import Fetching

/// The relay is a script: it answers each line of the client.
@Suite(.timeLimit(.minutes(10))) struct RelayClientTests {
    /// What a relay has read, with one entry for each line and one for the message.
    private final class Script: Sendable {
        let lines = Record<String>()
        private let answers: [String: String]
        private let features: [String]

        /// - Parameters:
        ///   - features: of the answer to EHLO.
        ///   - answers: to commands, by the word that they begin with, in place of a success.
        init(features: [String] = [], answers: [String: String] = [:]) {
            self.features = features
            self.answers = answers
        }

        func serve(_ connection: Int32) {
            Listener.send(answers["greeting"] ?? "220 relay\r\n", connection)
            while let line = Self.line(connection) {
                lines.add(line)
                let word = String(line.prefix { $0 != " " && $0 != ":" })
                if let answer = answers[word] {
                    Listener.send(answer + "\r\n", connection)
                    continue
                }
                switch word {
                case "EHLO":
                    let all = ["relay"] + features
                    for (index, feature) in all.enumerated() {
                        let mark = index == all.count - 1 ? " " : "-"
                        Listener.send("250\(mark)\(feature)\r\n", connection)
                    }
                case "AUTH": Listener.send("235 welcome\r\n", connection)
                case "DATA":
                    Listener.send("354 go on\r\n", connection)
                    lines.add(Self.message(connection))
                    Listener.send((answers["message"] ?? "250 taken") + "\r\n", connection)
                case "QUIT":
                    Listener.send("221 bye\r\n", connection)
                    return
                default: Listener.send("250 fine\r\n", connection)
                }
            }
        }

        private static func line(_ connection: Int32) -> String? {
            var text = ""
            var byte: UInt8 = 0
            while Glibc.read(connection, &byte, 1) == 1 {
                text.unicodeScalars.append(Unicode.Scalar(byte))
                if text.hasSuffix("\r\n") { return String(text.dropLast()) }
            }
            return nil
        }

        /// With the dots that are doubled.
        private static func message(_ connection: Int32) -> String {
            var text = ""
            var byte: UInt8 = 0
            while !text.hasSuffix("\r\n.\r\n"), Glibc.read(connection, &byte, 1) == 1 {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            }
            return text
        }
    }

    private let mail = OutboundMail(
        sender: "postern@example.com", recipient: "o'neil@example.org",
        bytes: Array("Subject: x\r\n\r\n.dot\r\nend\r\n".utf8))

    private func relay(
        _ port: UInt16, _ encryption: MailRelay.Encryption = .none,
        login: MailRelay.Login? = nil, timeout: Duration = .seconds(60)
    ) -> MailRelay {
        MailRelay(
            host: "127.0.0.1", port: port, encryption: encryption, login: login,
            clientName: "auth.example.com", timeout: timeout)
    }

    private func error(
        of script: Script, _ encryption: MailRelay.Encryption = .none,
        login: MailRelay.Login? = nil
    ) async -> RelayError? {
        let listener = Listener { script.serve($0) }
        defer { withExtendedLifetime(listener) {} }
        do {
            try await RelayClient(relay(listener.port, encryption, login: login)).send(mail)
            return nil
        } catch {
            return error as? RelayError
        }
    }

    @Test func aMessageIsGivenWithItsEnvelope() async throws {
        let script = Script()
        #expect(await error(of: script) == nil)
        #expect(
            // QUIT may follow later.
            script.lines.entries.prefix(5) == [
                "EHLO auth.example.com", "MAIL FROM:<postern@example.com>",
                "RCPT TO:<o'neil@example.org>", "DATA",
                "Subject: x\r\n\r\n..dot\r\nend\r\n.\r\n",
            ])
    }

    @Test func aLoginIsSentWhereTheRelayOffersIt() async throws {
        let script = Script(features: ["AUTH PLAIN"])
        let login = MailRelay.Login(account: "postern", password: "s3cret word")
        #expect(await error(of: script, login: login) == nil)
        // NUL, account, NUL, password.
        #expect(script.lines.entries.contains("AUTH PLAIN AHBvc3Rlcm4AczNjcmV0IHdvcmQ="))
        #expect("\(login)" == "<redacted>")
    }

    @Test func withoutSTARTTLSNothingIsSent() async throws {
        let script = Script(features: ["AUTH PLAIN"])
        let login = MailRelay.Login(account: "postern", password: "s3cret")
        #expect(await error(of: script, .starttls, login: login) == .untrusted)
        #expect(!script.lines.entries.contains { $0.hasPrefix("AUTH") || $0.hasPrefix("MAIL") })
    }

    @Test(arguments: [
        ("MAIL", "450 later", RelayError.rejected(code: 450)),
        ("RCPT", "550 no such user", .rejected(code: 550)),
        ("DATA", "554 no", .rejected(code: 554)),
        ("message", "452 full", .rejected(code: 452)),
        ("AUTH", "535 wrong", .loginRejected),
        ("AUTH", "454 not now", .rejected(code: 454)),
    ])
    func anAnswerOfTheRelayIsReported(word: String, answer: String, expected: RelayError) async {
        let script = Script(features: ["AUTH PLAIN"], answers: [word: answer])
        let login = MailRelay.Login(account: "postern", password: "s3cret")
        #expect(await error(of: script, login: login) == expected)
        #expect(expected.isPermanent == (answer.first == "5"))
    }

    @Test func aRelayThatIsAwayIsUnreachable() async throws {
        let port = Listener { _ in }.port
        await #expect(throws: RelayError.unreachable) {
            // Its listener is closed.
            try await RelayClient(relay(port)).send(mail)
        }
    }

    @Test func aRelayThatDoesNotAnswerTimesOut() async throws {
        let gate = Gate()
        let listener = Listener { _ in gate.hold() }
        await #expect(throws: RelayError.timedOut) {
            try await RelayClient(relay(listener.port, timeout: .milliseconds(200))).send(mail)
        }
        gate.release()
        withExtendedLifetime(listener) {}
    }

    @Test func aProbeLogsInAndSendsNoMessage() async throws {
        let script = Script(features: ["AUTH PLAIN"])
        let listener = Listener { script.serve($0) }
        let login = MailRelay.Login(account: "postern", password: "s3cret")
        try await RelayClient(relay(listener.port, login: login)).probe()
        let words = script.lines.entries.map { $0.prefix { $0 != " " } }
        #expect(words.prefix(3) == ["EHLO", "AUTH", "NOOP"])
        withExtendedLifetime(listener) {}
    }
}
