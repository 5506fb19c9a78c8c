@testable import LocalMail

/// The replies and questions of an SMTP session do not depend on how the bytes are split, and no
/// message has a bare CR or LF or is too large. The first byte says how to split.
func checkSMTP(_ input: [UInt8]) {
    let bytes = Array(input.dropFirst())
    let whole = SMTPTranscript(bytes, piece: max(1, bytes.count))
    let split = SMTPTranscript(bytes, piece: 1 + Int((input.first ?? 0) % 16))
    precondition(whole.output == split.output, "the split changes the replies")
    precondition(whole.questions == split.questions, "the split changes what is asked")
    for case .deliver(let message) in whole.questions {
        precondition(message.bytes.count <= SMTPTranscript.messageBytes)
        precondition(!SMTPTransaction.hasBareLineEnd(message.bytes))
        precondition((1...SMTPTranscript.recipients).contains(message.recipients.count))
    }
}

/// What a session says to these bytes, with answers that depend on the question only.
private struct SMTPTranscript {
    static let messageBytes = 200
    static let recipients = 3

    private(set) var output: [UInt8] = []
    private(set) var questions: [SMTPAction] = []
    private var isClosed = false

    init(_ bytes: [UInt8], piece: Int) {
        var limits = SMTPLimits()
        limits.messageBytes = Self.messageBytes
        limits.recipients = Self.recipients
        var session = SMTPSession(serverName: "mx.test", limits: limits)
        run(&session)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes { session.receive($0) }
            run(&session)
            precondition(session.heldBytes <= Self.messageBytes + bytes.count)
        }
        session.end(.input)
        run(&session)
        precondition(isClosed, "a session without input ends")
        precondition(!session.wantsInput && session.next() == nil)
    }

    private mutating func run(_ session: inout SMTPSession) {
        while let action = session.next() {
            switch action {
            case .send(let bytes): output += bytes
            case .close: isClosed = true
            case .verify, .checkSender, .checkRecipient, .deliver:
                questions.append(action)
                session.answer(Self.answer(action))
            }
        }
    }

    private static func answer(_ question: SMTPAction) -> SMTPAnswer {
        switch question {
        case .verify(let name, let password):
            name == password ? .wrongPassword : .signedIn(MailAccount(id: name, address: name))
        case .checkRecipient(let address):
            address.utf8.count % 4 == 0 ? .failed(.unknownRecipient) : .accepted
        case .deliver(let message):
            .delivered(
                message.recipients.map { DeliveryResult(recipient: $0, outcome: .captured) })
        default: .accepted
        }
    }
}
