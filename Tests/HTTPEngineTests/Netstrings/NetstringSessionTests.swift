import Testing

@testable import HTTPEngine

@Suite struct NetstringSessionTests {
    /// What a session says to do, for comparison.
    private enum Step: Equatable {
        case send(String), ask(String), close, reject, wait
    }

    private var session = NetstringSession(
        requestTime: .seconds(1), idleTime: .seconds(3), requestBytes: 8,
        oversized: Array("long".utf8), failed: Array("failed".utf8))

    private mutating func receive(_ text: String) {
        Array(text.utf8).withUnsafeBytes { session.receive($0) }
    }

    private mutating func answer(_ text: String) { session.answer(Array(text.utf8)) }

    private mutating func next() -> Step {
        switch session.next() {
        case .send(let bytes): .send(String(decoding: bytes, as: UTF8.self))
        case .ask(let request): .ask(String(decoding: request, as: UTF8.self))
        case .close: .close
        case .reject: .reject
        case nil: .wait
        }
    }

    @Test mutating func aRequestIsReadAfterTheReplyBeforeIt() {
        receive("1:a,1:b,")
        #expect(next() == .ask("a"))
        #expect(next() == .wait && !session.wantsInput)
        answer("yes")
        #expect(next() == .send("3:yes,"))
        #expect(next() == .ask("b"))
        answer("")
        #expect(next() == .send("0:,"))
        #expect(next() == .wait && session.wantsInput)
    }

    @Test mutating func aRequestThatIsTooLongOrFailsIsAnswered() {
        receive("9:123456789,1:b,")
        #expect(next() == .send("4:long,"))
        #expect(next() == .ask("b"))
        session.answerFailed()
        #expect(next() == .send("6:failed,"))
    }

    @Test mutating func invalidInputIsRejected() {
        receive("GET / HTTP/1.1\r\n")
        #expect(next() == .reject)
        #expect(next() == .wait && !session.wantsInput)
    }

    @Test mutating func bytesDoNotExtendTheTimeOfARequest() {
        let idle = session.timer
        #expect(idle.limit == .seconds(3))
        receive("5")
        let request = session.timer
        #expect(request.limit == .seconds(1) && request.number != idle.number)
        receive(":")
        #expect(next() == .wait)
        #expect(session.timer == request)
    }

    @Test mutating func anAnswerHasNoTimeLimitAndTheNextRequestItsOwn() {
        receive("1:a,1:")
        let first = session.timer
        #expect(next() == .ask("a"))
        #expect(session.timer.limit == nil)
        answer("yes")
        #expect(next() == .send("3:yes,"))
        #expect(session.timer.limit == .seconds(1) && session.timer.number != first.number)
    }

    @Test mutating func whatHasArrivedIsAnsweredBeforeTheEnd() {
        receive("1:a,1:b,1:")
        session.end(.input)
        for expected in ["a", "b"] {
            #expect(next() == .ask(expected) && !session.wantsInput)
            answer(expected)
            #expect(next() == .send("1:\(expected),"))
        }
        #expect(next() == .close)
        #expect(next() == .wait)
    }

    @Test mutating func withoutMemoryOnlyThePresentRequestIsAnswered() {
        receive("1:a,1:b,")
        #expect(next() == .ask("a") && session.heldBytes == 4)
        session.end(.memory)
        #expect(session.heldBytes == 0)
        answer("a")
        #expect(next() == .send("1:a,"))
        #expect(next() == .close)
    }
}
