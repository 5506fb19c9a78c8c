import Testing

@testable import HTTPEngine

@Suite struct ConnectionPhaseTests {
    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    /// Head 100, body 200, idle 300, write 400, linger 50, grace 80 milliseconds.
    private static let limits = ConnectionPhase.Limits(
        head: .init(.milliseconds(100)), body: .init(.milliseconds(200)),
        idle: .init(.milliseconds(300)), write: .init(.milliseconds(400)),
        linger: .init(.milliseconds(50)), drainGrace: .init(.milliseconds(80)))

    private var phase = ConnectionPhase(limits: limits, at: at(0))
    private var output = ConnectionOutput(
        limits: .init(pipelinedRequests: 2, pipelinedBytes: 500, unsentBytes: 1_000))

    private mutating func receiveRequest(at milliseconds: Int64, more: Bool = false) {
        phase.bytesArrived(at: Self.at(milliseconds))
        output.enqueue(.sample())
        phase.requestEnded(more: more, at: Self.at(milliseconds))
    }

    private mutating func finish(bytes: Int, isLast: Bool = false, at milliseconds: Int64) {
        output.write([UInt8](repeating: 0, count: bytes))
        output.finish()
        if isLast {
            output.dropQueue()
            phase.endInput(lingers: false)
        }
        phase.answered(at: Self.at(milliseconds))
    }

    private mutating func answer(bytes: Int = 10, isLast: Bool = false, at milliseconds: Int64) {
        _ = output.dequeue()
        finish(bytes: bytes, isLast: isLast, at: milliseconds)
    }

    private mutating func send(leaving rest: Int, at milliseconds: Int64) -> ConnectionPhase.Action
    {
        output.sent(output.unsentBytes - rest)
        return phase.sent(output, at: Self.at(milliseconds))
    }

    private mutating func expire(at milliseconds: Int64) -> ConnectionPhase.Action {
        phase.expire(output, at: Self.at(milliseconds))
    }

    @Test mutating func aConnectionThatSendsNothingIsClosedWithoutAResponse() {
        #expect(expire(at: 99) == .none)
        #expect(expire(at: 100) == .close)
    }

    @Test mutating func drippingBytesDoesNotExtendTheDeadlineOfAHead() {
        phase.bytesArrived(at: Self.at(50))
        phase.bytesArrived(at: Self.at(140))
        #expect(expire(at: 149) == .none)
        #expect(expire(at: 150) == .answerTimeout)
    }

    @Test mutating func drippingBytesDoesNotExtendTheDeadlineOfABody() {
        phase.bytesArrived(at: Self.at(0))
        phase.bodyBegan(isDropped: false, at: Self.at(10))
        phase.bytesArrived(at: Self.at(200))
        #expect(expire(at: 209) == .none)
        #expect(expire(at: 210) == .answerTimeout)
    }

    @Test mutating func anIdleConnectionIsClosedAfterTheIdleDeadline() {
        receiveRequest(at: 0)
        answer(at: 10)
        #expect(send(leaving: 0, at: 10) == .none)
        #expect(expire(at: 309) == .none)
        #expect(expire(at: 310) == .close)
    }

    @Test mutating func theTimeOfASlowHandlerIsNotIdleTime() {
        receiveRequest(at: 0)
        _ = output.dequeue()
        #expect(expire(at: 10_000) == .none)
        finish(bytes: 1, at: 10_000)
        #expect(send(leaving: 0, at: 10_000) == .none)
        #expect(expire(at: 10_299) == .none)
    }

    @Test mutating func theDeadlineOfTheNextHeadIsExtendedWhileARequestIsAnswered() {
        receiveRequest(at: 0, more: true)
        _ = output.dequeue()
        #expect(expire(at: 100) == .none)
        finish(bytes: 0, at: 150)
        #expect(expire(at: 199) == .none)
        #expect(expire(at: 200) == .answerTimeout)
    }

    @Test mutating func readingOneByteAtATimeDoesNotExtendTheWriteDeadline() {
        receiveRequest(at: 0)
        answer(bytes: 500, at: 0)
        #expect(send(leaving: 500, at: 0) == .none)
        #expect(send(leaving: 499, at: 390) == .none)
        #expect(expire(at: 399) == .none)
        #expect(expire(at: 400) == .close)
    }

    @Test mutating func aFullOutputStopsReadingAndAnswering() {
        receiveRequest(at: 0)
        answer(bytes: 1_001, at: 0)
        receiveRequest(at: 1)
        #expect(!phase.takesRequests(output))
        #expect(!phase.wantsBytes(output))
        #expect(output.dequeue() == nil)
        _ = send(leaving: 1_000, at: 2)
        #expect(phase.wantsBytes(output))
        #expect(output.dequeue() != nil)
    }

    @Test mutating func noMoreRequestsAreReadAheadThanAllowed() {
        receiveRequest(at: 0)
        #expect(phase.takesRequests(output))
        receiveRequest(at: 0)
        #expect(!phase.takesRequests(output))
        _ = output.dequeue()
        #expect(phase.takesRequests(output))
        #expect(output.dequeue() == nil)
    }

    @Test mutating func noMoreBytesAreReadAheadThanAllowed() {
        phase.bytesArrived(at: Self.at(0))
        output.enqueue(.sample(bytes: 500))
        phase.requestEnded(more: true, at: Self.at(0))
        #expect(phase.takesRequests(output))
        _ = output.dequeue()
        output.enqueue(.sample(bytes: 501))
        #expect(!phase.takesRequests(output) && !phase.wantsBytes(output))
        finish(bytes: 1, at: 0)
        _ = output.dequeue()
        #expect(phase.takesRequests(output))
    }

    @Test mutating func afterTheLastResponseNothingWaitsAndNothingIsRead() {
        receiveRequest(at: 0)
        receiveRequest(at: 0)
        answer(isLast: true, at: 1)
        #expect(output.waiting == 0)
        #expect(!phase.takesRequests(output))
        #expect(send(leaving: 0, at: 1) == .close)
    }

    @Test mutating func afterAnEarlyResponseTheRestIsReadAndDropped() {
        phase.bytesArrived(at: Self.at(0))
        output.enqueue(.sample())
        phase.endInput(lingers: true)
        answer(isLast: true, at: 1)
        #expect(send(leaving: 0, at: 10) == .linger)
        #expect(phase.wantsBytes(output))
        #expect(!phase.takesRequests(output))
        #expect(expire(at: 59) == .none)
        #expect(expire(at: 60) == .close)
    }

    @Test mutating func lingeringEndsWhenThePeerEnds() {
        output.enqueue(.sample())
        phase.endInput(lingers: true)
        answer(isLast: true, at: 1)
        #expect(send(leaving: 0, at: 1) == .linger)
        #expect(phase.peerEnded(output, at: Self.at(2)) == .close)
        #expect(phase.close() == .none)
    }

    @Test mutating func closingWhileABodyIsBeingDroppedLingers() {
        phase.bytesArrived(at: Self.at(0))
        output.enqueue(.sample())
        phase.bodyBegan(isDropped: true, at: Self.at(0))
        answer(isLast: true, at: 1)
        #expect(send(leaving: 0, at: 1) == .linger)
    }

    @Test mutating func aDroppedBodyThatDoesNotArriveClosesWithoutASecondResponse() {
        phase.bytesArrived(at: Self.at(0))
        output.enqueue(.sample())
        phase.bodyBegan(isDropped: true, at: Self.at(0))
        answer(at: 1)
        #expect(send(leaving: 0, at: 1) == .none)
        #expect(expire(at: 200) == .linger)
    }

    @Test mutating func aPeerThatEndsItsOutputStillGetsItsResponses() {
        receiveRequest(at: 0)
        _ = output.dequeue()
        #expect(phase.peerEnded(output, at: Self.at(1)) == .none)
        #expect(!phase.wantsBytes(output))
        finish(bytes: 9, at: 2)
        #expect(send(leaving: 4, at: 2) == .none)
        #expect(send(leaving: 0, at: 3) == .close)
    }

    @Test mutating func aPeerThatEndsWithoutARequestIsClosed() {
        #expect(phase.peerEnded(output, at: Self.at(1)) == .close)
    }

    @Test mutating func drainingClosesIdleConnectionsOnly() {
        var busy = self
        busy.receiveRequest(at: 0)
        #expect(busy.phase.drain(busy.output, at: Self.at(90)) == .none)
        var reading = self
        reading.phase.bytesArrived(at: Self.at(0))
        #expect(reading.phase.drain(reading.output, at: Self.at(90)) == .none)
        #expect(phase.drain(output, at: Self.at(90)) == .close)
        #expect(phase.drain(output, at: Self.at(90)) == .none)
    }

    @Test mutating func whileDrainingTheNextRequestHasTheGraceToArrive() {
        var late = self
        #expect(late.phase.drain(late.output, at: Self.at(79)) == .none)
        // To drain again makes it no longer.
        #expect(late.phase.drain(late.output, at: Self.at(79)) == .none)
        #expect(late.expire(at: 79) == .none)
        #expect(late.expire(at: 80) == .close)
        receiveRequest(at: 10)
        answer(at: 50)
        #expect(send(leaving: 0, at: 50) == .none)
        #expect(phase.drain(output, at: Self.at(100)) == .none)
        receiveRequest(at: 120)
        #expect(expire(at: 130) == .none)
        answer(isLast: true, at: 140)
        #expect(send(leaving: 0, at: 140) == .close)
    }
}
