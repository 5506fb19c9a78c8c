internal import HTTPEngine
internal import LocalMail
internal import Networking

/// An SMTP session on a connection.
struct SMTPConnection: ByteSession {
    struct Question: Sendable {
        let action: SMTPAction
        let client: IPAddress
    }

    private var session: SMTPSession
    private let client: IPAddress

    init(_ session: SMTPSession, client: IPAddress) {
        self.session = session
        self.client = client
    }

    var wantsInput: Bool { session.wantsInput }

    var timer: SessionTimer {
        let timer = session.timer
        return SessionTimer(number: timer.number, limit: timer.limit)
    }

    var heldBytes: Int { session.heldBytes }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) { session.receive(bytes) }

    mutating func next() -> SessionAction<Question>? {
        guard let action = session.next() else { return nil }
        switch action {
        case .send(let bytes): return .send(bytes)
        case .close(let lingers): return .close(lingers: lingers)
        case .verify, .checkSender, .checkRecipient, .deliver:
            return .ask(Question(action: action, client: client))
        }
    }

    mutating func answer(_ answer: SMTPAnswer) { session.answer(answer) }

    mutating func answerFailed() { session.answer(.failed(.temporary)) }

    mutating func end(_ reason: SessionEnd) {
        switch reason {
        case .input: session.end(.input)
        case .time: session.end(.time)
        case .memory: session.end(.memory)
        case .shutdown: session.end(.shutdown)
        }
    }

    mutating func releaseBuffers() { session.releaseBuffers() }
}
