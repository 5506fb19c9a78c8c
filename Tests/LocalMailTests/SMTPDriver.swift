@testable import LocalMail

/// Drives a session as a server does, with answers that depend on the address only.
struct SMTPDriver {
    private(set) var session: SMTPSession
    private(set) var output: [UInt8] = []
    private(set) var asked: [SMTPAction] = []
    private(set) var isClosed = false
    private(set) var lingers: Bool?

    init(limits: SMTPLimits = SMTPLimits()) {
        session = SMTPSession(serverName: "mx.here.test", limits: limits)
        run()
    }

    /// The code of each reply.
    var codes: [Int] {
        text.split(separator: "\r\n").filter { $0.dropFirst(3).first != "-" }
            .compactMap { Int($0.prefix(3)) }
    }

    var text: String { String(decoding: output, as: UTF8.self) }

    var messages: [SMTPMessage] {
        asked.compactMap { if case .deliver(let message) = $0 { message } else { nil } }
    }

    mutating func send(_ text: String) { send(Array(text.utf8)) }

    mutating func send(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { session.receive($0) }
        run()
    }

    mutating func end(_ reason: SMTPEnd) {
        session.end(reason)
        run()
    }

    private mutating func run() {
        while let action = session.next() {
            switch action {
            case .send(let bytes): output += bytes
            case .close(let lingers):
                isClosed = true
                self.lingers = lingers
            default:
                asked.append(action)
                session.answer(Self.answer(action))
            }
        }
    }

    private static func answer(_ action: SMTPAction) -> SMTPAnswer {
        switch action {
        case .verify(let name, let password):
            if name == "busy" { return .failed(.temporary) }
            guard password == "secret" else { return .wrongPassword }
            return .signedIn(MailAccount(id: name, address: name))
        case .checkSender(let address, let account):
            return address == account.address ? .accepted : .failed(.unknownRecipient)
        case .checkRecipient("full@here.test"): return .failed(.mailboxFull)
        case .checkRecipient("nobody@here.test"): return .failed(.unknownRecipient)
        case .deliver(let message):
            return .delivered(
                message.recipients.map { recipient in
                    let fails = recipient == "late@here.test"
                    return DeliveryResult(
                        recipient: recipient, outcome: fails ? .failed(.systemFull) : .captured)
                })
        default: return .accepted
        }
    }
}

extension SMTPDriver {
    /// A session after EHLO, MAIL and RCPT.
    static func inTransaction(_ limits: SMTPLimits = SMTPLimits()) -> SMTPDriver {
        var driver = SMTPDriver(limits: limits)
        driver.send("EHLO c\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<ann@here.test>\r\n")
        return driver
    }

    /// The codes after those of ``inTransaction(_:)``.
    var newCodes: [Int] { Array(codes.dropFirst(4)) }
}
