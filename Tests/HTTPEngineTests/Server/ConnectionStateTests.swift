import Testing

@testable import HTTPEngine

@Suite struct ConnectionStateTests {
    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    /// Head 100, body 200, idle 300, write 400, linger 50 milliseconds.
    private static let limits = ConnectionState.Limits(
        pipelinedRequests: 2, pipelinedBytes: 500, outboxBytes: 1_000,
        head: .init(.milliseconds(100)),
        body: .init(.milliseconds(200)), idle: .init(.milliseconds(300)),
        write: .init(.milliseconds(400)), linger: .init(.milliseconds(50)))

    private var state = ConnectionState(limits: limits, at: at(0))

    private mutating func receiveRequest(at milliseconds: Int64, more: Bool = false) {
        state.bytesArrived(at: Self.at(milliseconds))
        state.enqueued()
        state.requestEnded(more: more, at: Self.at(milliseconds))
    }

    private mutating func answer(bytes: Int = 10, isLast: Bool = false, at milliseconds: Int64) {
        state.answerBegan()
        state.answered(bytes: bytes, isLast: isLast, at: Self.at(milliseconds))
    }

    @Test mutating func aConnectionThatSaysNothingIsClosedInSilence() {
        #expect(state.expire(at: Self.at(99)) == .none)
        #expect(state.expire(at: Self.at(100)) == .close)
    }

    @Test mutating func drippingBytesDoesNotExtendTheDeadlineOfAHead() {
        state.bytesArrived(at: Self.at(50))
        state.bytesArrived(at: Self.at(140))
        #expect(state.expire(at: Self.at(149)) == .none)
        #expect(state.expire(at: Self.at(150)) == .answerTimeout)
    }

    @Test mutating func drippingBytesDoesNotExtendTheDeadlineOfABody() {
        state.bytesArrived(at: Self.at(0))
        state.bodyBegan(answered: false, at: Self.at(10))
        state.bytesArrived(at: Self.at(200))
        #expect(state.expire(at: Self.at(209)) == .none)
        #expect(state.expire(at: Self.at(210)) == .answerTimeout)
    }

    @Test mutating func anIdleConnectionIsClosedAfterItsTime() {
        receiveRequest(at: 0)
        answer(at: 10)
        #expect(state.sent(leaving: 0, at: Self.at(10)) == .none)
        #expect(state.expire(at: Self.at(309)) == .none)
        #expect(state.expire(at: Self.at(310)) == .close)
    }

    @Test mutating func aSlowHandlerIsNotTheClientsIdleness() {
        receiveRequest(at: 0)
        state.answerBegan()
        #expect(state.expire(at: Self.at(10_000)) == .none)
        state.answered(bytes: 1, isLast: false, at: Self.at(10_000))
        #expect(state.sent(leaving: 0, at: Self.at(10_000)) == .none)
        #expect(state.expire(at: Self.at(10_299)) == .none)
    }

    @Test mutating func theNextHeadIsNotTimedWhileWeAreBusy() {
        receiveRequest(at: 0, more: true)
        state.answerBegan()
        #expect(state.expire(at: Self.at(100)) == .none)
        state.answered(bytes: 0, isLast: false, at: Self.at(150))
        #expect(state.expire(at: Self.at(199)) == .none)
        #expect(state.expire(at: Self.at(200)) == .answerTimeout)
    }

    @Test mutating func readingOneByteAtATimeDoesNotMoveTheWriteDeadline() {
        receiveRequest(at: 0)
        answer(bytes: 500, at: 0)
        #expect(state.sent(leaving: 500, at: Self.at(0)) == .none)
        #expect(state.sent(leaving: 499, at: Self.at(390)) == .none)
        #expect(state.expire(at: Self.at(399)) == .none)
        #expect(state.expire(at: Self.at(400)) == .close)
    }

    @Test mutating func aFullOutboxStopsReadingAndAnswering() {
        receiveRequest(at: 0)
        answer(bytes: 1_001, at: 0)
        receiveRequest(at: 1)
        #expect(!state.takesRequests)
        #expect(!state.wantsBytes)
        #expect(!state.mayAnswer)
        _ = state.sent(leaving: 1_000, at: Self.at(2))
        #expect(state.wantsBytes)
        #expect(state.mayAnswer)
    }

    @Test mutating func noMoreRequestsAreReadAheadThanAllowed() {
        receiveRequest(at: 0)
        #expect(state.takesRequests)
        receiveRequest(at: 0)
        #expect(!state.takesRequests)
        state.answerBegan()
        #expect(state.takesRequests)
        #expect(!state.mayAnswer)
    }

    @Test mutating func noMoreBytesAreReadAheadThanAllowed() {
        state.bytesArrived(at: Self.at(0))
        state.enqueued(bytes: 500)
        state.requestEnded(more: true, at: Self.at(0))
        #expect(state.takesRequests)
        state.answerBegan(bytes: 500)
        state.enqueued(bytes: 501)
        #expect(!state.takesRequests && !state.wantsBytes)
        state.answered(bytes: 1, isLast: false, at: Self.at(0))
        state.answerBegan(bytes: 501)
        #expect(state.takesRequests)
    }

    @Test mutating func afterTheLastAnswerNothingWaitsAndNothingIsRead() {
        receiveRequest(at: 0)
        receiveRequest(at: 0)
        answer(isLast: true, at: 1)
        #expect(state.waiting == 0)
        #expect(!state.takesRequests)
        #expect(state.sent(leaving: 0, at: Self.at(1)) == .close)
    }

    @Test mutating func anEarlyAnswerIsFollowedByReadingWhatStillComes() {
        state.bytesArrived(at: Self.at(0))
        state.enqueued()
        state.endInput(lingers: true)
        answer(isLast: true, at: 1)
        #expect(state.sent(leaving: 0, at: Self.at(10)) == .linger)
        #expect(state.wantsBytes)
        #expect(!state.takesRequests)
        #expect(state.expire(at: Self.at(59)) == .none)
        #expect(state.expire(at: Self.at(60)) == .close)
    }

    @Test mutating func lingeringEndsWhenThePeerEnds() {
        state.enqueued()
        state.endInput(lingers: true)
        answer(isLast: true, at: 1)
        #expect(state.sent(leaving: 0, at: Self.at(1)) == .linger)
        #expect(state.peerSentEnd(at: Self.at(2)) == .close)
        #expect(state.close() == .none)
    }

    @Test mutating func closingWhileABodyIsBeingDroppedLingers() {
        state.bytesArrived(at: Self.at(0))
        state.enqueued()
        state.bodyBegan(answered: true, at: Self.at(0))
        answer(isLast: true, at: 1)
        #expect(state.sent(leaving: 0, at: Self.at(1)) == .linger)
    }

    @Test mutating func aDroppedBodyThatDoesNotComeClosesWithoutASecondAnswer() {
        state.bytesArrived(at: Self.at(0))
        state.enqueued()
        state.bodyBegan(answered: true, at: Self.at(0))
        answer(at: 1)
        #expect(state.sent(leaving: 0, at: Self.at(1)) == .none)
        #expect(state.expire(at: Self.at(200)) == .linger)
    }

    @Test mutating func aPeerThatEndsItsInputStillGetsItsAnswers() {
        receiveRequest(at: 0)
        state.answerBegan()
        #expect(state.peerSentEnd(at: Self.at(1)) == .none)
        #expect(!state.wantsBytes)
        state.answered(bytes: 9, isLast: false, at: Self.at(2))
        #expect(state.sent(leaving: 4, at: Self.at(2)) == .none)
        #expect(state.sent(leaving: 0, at: Self.at(3)) == .close)
    }

    @Test mutating func aPeerThatEndsWithoutAskingIsClosed() {
        #expect(state.peerSentEnd(at: Self.at(1)) == .close)
    }

    @Test mutating func drainingClosesQuietConnectionsOnly() {
        var busy = self
        busy.receiveRequest(at: 0)
        #expect(busy.state.drain() == .none)
        var reading = self
        reading.state.bytesArrived(at: Self.at(0))
        #expect(reading.state.drain() == .none)
        #expect(state.drain() == .close)
        #expect(state.drain() == .none)
    }
}
