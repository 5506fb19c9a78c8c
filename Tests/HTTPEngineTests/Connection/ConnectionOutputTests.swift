import Networking
import Testing

@testable import HTTPEngine

extension Exchange {
    /// An exchange that keeps this number of bytes of its request.
    static func sample(bytes: Int = 0, number: UInt64 = 0) -> Exchange {
        let target = String(repeating: "/", count: bytes)
        return Exchange(
            id: RequestID(prefix: 0, number: number), began: MonotonicTime(nanoseconds: 0),
            head: RequestHead(method: .get, target: target, headers: []),
            client: SocketAddress(.loopback, port: 0),
            responder: .response(Response(status: .ok), nil))
    }
}

@Suite struct ConnectionOutputTests {
    private var output = ConnectionOutput(
        limits: .init(pipelinedRequests: 16, pipelinedBytes: 1_000, unsentBytes: 1_000))

    private let frame = ResponseEncoder.Frame(
        id: RequestID(prefix: 0, number: 0), date: [], isHead: false, minorVersion: 1,
        keepsAlive: true)

    @Test mutating func oneExchangeIsAnsweredAtATimeInTheOrderOfRequests() {
        for number in 1...3 { output.enqueue(.sample(number: UInt64(number))) }
        #expect(output.dequeue()?.id.number == 1)
        #expect(output.isAnswering && !output.isCaughtUp)
        #expect(output.dequeue() == nil)
        output.finish()
        #expect(output.dequeue()?.id.number == 2)
        output.finish()
        #expect(output.waiting == 1)
        output.dropQueue()
        #expect(output.isCaughtUp && output.dequeue() == nil)
    }

    @Test mutating func whatIsSentIsWhatWasWrittenWhereverTheSocketStops() throws {
        let length = try output.write(.text("hello"), frame)
        #expect(output.unsentBytes == length)
        var sent: [UInt8] = []
        while output.unsentBytes > 0 {
            let count = min(7, output.unsentBytes)
            output.withUnsentBytes { sent += $0.prefix(count) }
            output.sent(count)
        }
        #expect(sent.count == length && output.isIdle)
        #expect(String(decoding: sent, as: UTF8.self).hasSuffix("\r\n\r\nhello"))
    }

    @Test mutating func aResponseThatCannotBeEncodedWritesNothing() {
        output.write([1, 2, 3])
        #expect(throws: InvalidHeader.self) {
            try output.write(Response(status: .ok, headers: [("A", "\n")]), frame)
        }
        #expect(output.unsentBytes == 3)
    }

    @Test mutating func requestsAndResponsesAreHeldUntilTheyAreDone() {
        output.enqueue(.sample(bytes: 100))
        #expect(output.heldBytes == 100)
        _ = output.dequeue()
        #expect(output.heldBytes == 100)
        output.write([UInt8](repeating: 0, count: 10_000))
        output.finish()
        #expect(output.heldBytes >= 10_000)
        // A large buffer is freed when all of it is sent.
        output.sent(10_000)
        #expect(output.heldBytes == 0)
    }

    @Test mutating func aSmallBufferIsKeptUntilItIsReleased() {
        output.enqueue(.sample(bytes: 100))
        _ = output.dequeue()
        output.write([UInt8](repeating: 0, count: 100))
        output.finish()
        output.sent(99)
        output.releaseBuffers()
        #expect(output.unsentBytes == 1)
        output.sent(1)
        #expect(output.heldBytes >= 100)
        output.releaseBuffers()
        #expect(output.heldBytes == 0)
    }

    @Test mutating func discardingGivesBackEverything() {
        output.enqueue(.sample(bytes: 100))
        output.write([UInt8](repeating: 0, count: 100))
        output.discard()
        #expect(output.heldBytes == 0 && output.isIdle)
    }
}
