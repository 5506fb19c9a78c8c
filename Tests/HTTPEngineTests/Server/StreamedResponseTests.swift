import TestPrimitives
import Testing

@testable import HTTPEngine

extension Live {
    /// Responses whose body is sent piece by piece.
    @Suite struct StreamedResponse {
        private func request(_ method: String = "GET", version: String = "1.1") -> String {
            "\(method) /stream HTTP/\(version)\r\nHost: a\r\n\r\n"
        }

        @Test func everyPieceIsSentWhenItComesAndTheConnectionGoesOn() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send(request())
            let head = client.receive(through: "first\n\r\n")
            #expect(head.contains("\r\nTransfer-Encoding: chunked\r\n"))
            #expect(!head.contains("Content-Length"))
            #expect(head.contains("\r\n\r\n6\r\nfirst\n\r\n"))
            live.pieces.yield(Array("second, of 18 byte".utf8))
            #expect(client.receive(through: "byte\r\n") == "12\r\nsecond, of 18 byte\r\n")
            // No bytes are no chunk, which would be the end.
            live.pieces.yield([])
            live.pieces.finish()
            client.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            let rest = client.receive(through: "now \n")
            #expect(rest.hasPrefix("0\r\n\r\nHTTP/1.1 200 OK\r\n"))
            await live.server.drain()
            let record = try #require(live.records.access.first)
            let rests = "12\r\nsecond, of 18 byte\r\n0\r\n\r\n"
            #expect(record.bytes == head.utf8.count + rests.utf8.count)
        }

        @Test func forHTTP10TheBodyEndsWithTheConnection() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send(
                "GET /stream HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
            live.pieces.yield(Array("last\n".utf8))
            live.pieces.finish()
            let answer = try #require(client.receiveToEnd())
            #expect(answer.hasSuffix("\r\nConnection: close\r\n\r\nfirst\nlast\n"))
            #expect(!answer.contains("chunked"))
            await live.server.drain()
        }

        @Test func theResponseToHEADHasNoPieces() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send(request("HEAD") + "GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = client.receive(through: "now \n")
            #expect(answer.contains("chunked\r\n"))
            #expect(!answer.contains("first"))
            await live.server.drain()
        }

        @Test(arguments: [true, false])
        func aClientThatGoesAwayCancelsTheStream(_ resets: Bool) async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send(request())
            _ = client.receive(through: "first\n\r\n")
            if resets { client.reset() } else { client.endInput() }
            await live.cancelled.wait()
            await live.server.drain()
            #expect(live.records.access.map(\.status) == [200])
        }

        @Test func aServerThatStopsEndsTheStream() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send(request())
            _ = client.receive(through: "first\n\r\n")
            await live.server.drain()
            #expect(client.receiveToEnd() == "0\r\n\r\n")
            await live.cancelled.wait()
            await live.server.drain()
        }

        @Test func aClientThatDoesNotReadIsDisconnected() async throws {
            let live = try LiveServer { $0.outboxBytes = 10_000 }
            let client = live.client(receiveBuffer: 4_096)
            client.send(request())
            for _ in 0..<200 { live.pieces.yield([UInt8](repeating: 0x78, count: 100_000)) }
            await live.cancelled.wait()
            await live.server.drain()
        }
    }
}
