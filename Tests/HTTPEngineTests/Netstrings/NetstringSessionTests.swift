import Testing

@testable import HTTPEngine

@Suite struct NetstringSessionTests {
    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    /// Request 100, idle 300, write 400 milliseconds.
    private var session = NetstringSession(
        limits: .init(
            request: .init(.milliseconds(100)), idle: .init(.milliseconds(300)),
            write: .init(.milliseconds(400))),
        requestBytes: 8, at: at(0))

    private mutating func receive(_ text: String, at milliseconds: Int64 = 0) {
        Array(text.utf8).withUnsafeBytes { session.receive($0, at: Self.at(milliseconds)) }
    }

    private mutating func answer(_ text: String, at milliseconds: Int64 = 0) {
        session.reply(Array(text.utf8), at: Self.at(milliseconds))
    }

    private mutating func send(_ count: Int? = nil, at milliseconds: Int64 = 0) -> String {
        let text = session.withUnsentBytes { String(decoding: $0, as: UTF8.self) }
        session.sent(count ?? session.unsentBytes, at: Self.at(milliseconds))
        return text
    }

    private func request(_ text: String) -> NetstringSession.Step { .answer(Array(text.utf8)) }

    @Test mutating func aRequestIsReadWhenTheReplyBeforeItIsSent() {
        receive("1:a,1:b,")
        #expect(session.next() == request("a"))
        #expect(session.next() == .wait && !session.wantsBytes && session.isAnswering)
        answer("yes")
        #expect(session.next() == .wait && !session.wantsBytes)
        #expect(send(2) == "3:yes,")
        #expect(session.next() == .wait)
        #expect(send() == "yes,")
        #expect(session.next() == request("b"))
        answer("")
        #expect(send() == "0:,")
        #expect(session.next() == .wait && session.wantsBytes)
    }

    @Test mutating func aRequestThatIsTooLongIsAnswered() {
        receive("9:123456789,1:b,")
        #expect(session.next() == .answerOversized)
        answer("no")
        #expect(send() == "2:no,")
        #expect(session.next() == request("b"))
    }

    @Test mutating func invalidInputIsRejected() {
        receive("GET / HTTP/1.1\r\n")
        #expect(session.next() == .reject)
    }

    @Test mutating func anIdleConnectionExpires() {
        #expect(!session.hasExpired(at: Self.at(299)) && session.hasExpired(at: Self.at(300)))
    }

    @Test mutating func bytesDoNotExtendTheTimeOfARequest() {
        receive("5", at: 200)
        receive(":", at: 250)
        #expect(session.next() == .wait)
        #expect(!session.hasExpired(at: Self.at(299)) && session.hasExpired(at: Self.at(300)))
    }

    @Test mutating func anAnswerHasNoDeadlineAndAReplyHasOne() {
        receive("1:a,", at: 10)
        #expect(session.next() == request("a"))
        #expect(!session.hasExpired(at: Self.at(10_000)))
        answer("yes", at: 10_000)
        _ = send(1, at: 10_100)
        #expect(!session.hasExpired(at: Self.at(10_399)))
        #expect(session.hasExpired(at: Self.at(10_400)))
        _ = send(at: 10_399)
        // Idle again.
        #expect(!session.hasExpired(at: Self.at(10_698)))
        #expect(session.hasExpired(at: Self.at(10_699)))
    }

    @Test mutating func theNextRequestHasItsOwnTime() {
        receive("1:a,1:", at: 0)
        #expect(session.next() == request("a"))
        answer("", at: 500)
        _ = send(at: 500)
        #expect(!session.hasExpired(at: Self.at(599)) && session.hasExpired(at: Self.at(600)))
    }

    @Test mutating func whatHasArrivedIsAnsweredBeforeTheEnd() {
        receive("1:a,1:b,1:")
        session.endInput()
        for expected in ["a", "b"] {
            #expect(session.next() == request(expected) && !session.wantsBytes)
            answer(expected)
            _ = send()
        }
        #expect(session.next() == .close)
    }

    @Test mutating func aClosedSessionDoesNothing() {
        receive("1:a,")
        session.close()
        #expect(session.isClosed && session.next() == .wait && !session.wantsBytes)
        #expect(!session.hasExpired(at: Self.at(100_000)))
    }
}
