import TestPrimitives
import Testing

@testable import HTTPEngine

extension Live {
    /// What all connections together may make the server hold.
    @Suite struct BufferLimit {
        private static let filler = String(repeating: "a", count: 14_000)
        /// Most of a head, in as many fields as it needs.
        private static let half = "GET /now HTTP/1.1\r\nHost: a\r\nA: \(filler)\r\nB: \(filler)\r\n"

        /// Each answer means that whatever was sent before it on other connections has been read by
        /// a buffer more, for one loop serves them in turn.
        private func turns(_ client: RawClient) {
            for _ in 0..<4 {
                client.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(client.receive(through: "now \n").hasPrefix("HTTP/1.1 200"))
            }
        }

        @Test func aRequestThatDoesNotFitIsTold503AndSmallOnesAreAnswered() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.bufferBytes = 40_000
            }
            let (first, second, small) = (live.client(), live.client(), live.client())
            first.send(Self.half)
            turns(small)
            second.send(Self.half)
            let refusal = try #require(second.receiveToEnd())
            #expect(refusal.hasPrefix("HTTP/1.1 503 ") && refusal.contains("Retry-After: 1\r\n"))
            turns(small)
            first.send("\r\n")
            #expect(first.receive(through: "now \n").hasPrefix("HTTP/1.1 200"))
            // The first has given back what it held.
            #expect(
                live.exchange(Self.half + "Connection: close\r\n\r\n")?.hasSuffix("now \n") == true)
            for client in [first, second, small] { client.close() }
            await live.server.drain()
        }

        @Test func whoLeavesInTheMiddleOfARequestGivesBackWhatItHeld() async throws {
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

        @Test func requestsThatWaitBehindASlowOneAreTurnedAwayWithOneAnswer() async throws {
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

        @Test func whoDoesNotReadIsCutOffWhenThereIsNoRoom() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.bufferBytes = 50_000
            }
            let client = live.client(receiveBuffer: 4_096)
            // 40 MB of answers: more than the kernel holds for one who does not read.
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
    /// How often a text is in it.
    fileprivate func components(of text: String) -> Int {
        indices.count { self[$0...].hasPrefix(text) }
    }
}
