import TestPrimitives
import Testing

@testable import HTTPEngine

extension Live {
    /// The buffer budget of all connections.
    @Suite struct BufferLimit {
        private static let filler = String(repeating: "a", count: 14_000)
        /// Most of a head, in several fields.
        private static let half = "GET /now HTTP/1.1\r\nHost: a\r\nA: \(filler)\r\nB: \(filler)\r\n"

        /// Waits until the server has read four more buffers of every other connection: one loop
        /// serves them in turn.
        private func turns(_ client: RawClient) {
            for _ in 0..<4 {
                client.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(client.receive(through: "now \n").hasPrefix("HTTP/1.1 200"))
            }
        }

        @Test func aRequestBeyondTheBudgetIsAnswered503AndSmallOnesAreServed() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.bufferBytes = 40_000
            }
            let (first, second, small) = (live.client(), live.client(), live.client())
            first.send(Self.half)
            turns(small)
            second.send(Self.half)
            let response = try #require(second.receiveToEnd())
            #expect(response.hasPrefix("HTTP/1.1 503 ") && response.contains("Retry-After: 1\r\n"))
            turns(small)
            first.send("\r\n")
            #expect(first.receive(through: "now \n").hasPrefix("HTTP/1.1 200"))
            // The first has released its bytes.
            #expect(
                live.exchange(Self.half + "Connection: close\r\n\r\n")?.hasSuffix("now \n") == true)
            for client in [first, second, small] { client.close() }
            await live.server.drain()
        }

        @Test func aConnectionThatClosesMidRequestReleasesItsBytes() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.bufferBytes = 40_000
            }
            let small = live.client()
            for _ in 0..<5 {
                let client = live.client()
                client.send(Self.half)
                turns(small)
                client.reset()
                turns(small)
            }
            #expect(
                live.exchange(Self.half + "Connection: close\r\n\r\n")?.hasSuffix("now \n") == true)
            small.close()
            await live.server.drain()
        }

        @Test func requestsThatWaitBeyondTheBudgetHaveOneResponse() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.bufferBytes = 20_000
            }
            let client = live.client()
            client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            client.send(Self.half + "\r\n" + Self.half + "\r\n")
            let small = live.client()
            turns(small)
            live.gate.open()
            let all = try #require(client.receiveToEnd())
            #expect(all.contains("gate\nHTTP/1.1 503 ") && !all.contains("now \n"))
            #expect(all.components(of: "HTTP/1.1 ") == 2)
            small.close()
            await live.server.drain()
        }

        @Test func aClientThatDoesNotReadIsDisconnectedBeyondTheBudget() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.bufferBytes = 50_000
            }
            let client = live.client(receiveBuffer: 4_096)
            // 40 MB of responses: more than the kernel buffers for one connection.
            client.send(String(repeating: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", count: 400))
            let small = live.client()
            turns(small)
            #expect(live.server.statistics.openConnections == 1)
            client.close()
            small.close()
            await live.server.drain()
        }
    }
}

extension String {
    /// The number of occurrences of a text.
    fileprivate func components(of text: String) -> Int {
        indices.count { self[$0...].hasPrefix(text) }
    }
}
