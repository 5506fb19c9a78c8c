import Networking
import TestPrimitives
import Testing

@testable import HTTPEngine

private let now = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"
private let last = "GET /now?q=last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

extension Live {
    /// Requests and responses of one connection.
    @Suite struct Exchanges {
        @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
            let live = try LiveServer()
            live.gate.open()
            let many = (0..<40).map { index in
                index % 3 == 0
                    ? "GET /gate HTTP/1.1\r\nHost: a\r\n\r\n"
                    : "GET /now?q=\(index) HTTP/1.1\r\nHost: a\r\n\r\n"
            }
            let text = try #require(live.exchange(many.joined() + last))
            let bodies = text.split(separator: "\r\n").filter { !$0.contains(": ") }.joined()
            let answers = bodies.split(separator: "\n").map {
                $0.replacing("HTTP/1.1 200 OK", with: "")
            }
            #expect(
                answers == (0..<40).map { $0 % 3 == 0 ? "gate" : "now \($0)" } + ["now last"])
            await live.server.drain()
            #expect(live.records.access.count == 41)
        }

        @Test func aConnectionPersistsAfterAResponse() async throws {
            let live = try LiveServer()
            let client = live.client()
            for _ in 0..<3 {
                client.send(now)
                #expect(client.receive(through: "now \n").hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
            client.send(last)
            #expect(client.receiveToEnd()?.contains("Connection: close\r\n") == true)
            await live.server.drain()
        }

        @Test func aRequestOfHTTP10IsAnsweredAndClosed() async throws {
            let live = try LiveServer()
            let text = live.exchange("GET /now HTTP/1.0\r\n\r\n")
            #expect(text?.contains("Connection: close\r\n") == true)
            let client = live.client()
            client.send("GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(client.receive(through: "now \n").contains("Connection: keep-alive\r\n"))
            client.send("GET /now HTTP/1.0\r\n\r\n")
            #expect(client.receiveToEnd()?.hasSuffix("now \n") == true)
            await live.server.drain()
        }

        @Test func aClientThatEndsItsOutputStillGetsItsResponses() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send(now + "GET /gate HTTP/1.1\r\nHost: a\r\n\r\n" + now)
            client.endInput()
            await live.arrivals.reaches()
            live.gate.open()
            let text = try #require(client.receiveToEnd())
            #expect(text.split(separator: "HTTP/1.1 200 OK").count == 3)
            await live.server.drain()
        }

        @Test func aClientThatExpectsContinueGetsIt() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send(
                "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            )
            #expect(client.receive(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            client.send("hi")
            #expect(client.receive(through: "\r\n\r\nhi").hasPrefix("HTTP/1.1 200 OK"))
            await live.server.drain()
        }

        @Test func aChunkedBodyInPiecesIsComplete() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in ["5\r", "\nhel", "lo\r\n5\r\n wor", "l\r\n0\r\nX: y\r\n", "\r\n" + last] {
                client.send(piece)
            }
            let text = try #require(client.receiveToEnd())
            #expect(text.contains("\r\n\r\nhello worl" + "HTTP/1.1 200 OK"))
            await live.server.drain()
        }

        @Test func earlierResponsesComeBeforeTheInterimResponse() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            client.send(
                "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            )
            live.gate.open()
            let text = client.receive(through: "100 Continue\r\n\r\n")
            #expect(text.hasPrefix("HTTP/1.1 200 OK") && text.contains("gate\nHTTP/1.1 100 "))
            client.send("hi" + last)
            #expect(client.receiveToEnd()?.contains("\r\n\r\nhi" + "HTTP/1.1 200") == true)
            await live.server.drain()
        }

        @Test(arguments: ["Expect: 100-continue\r\n", ""])
        func aBodyTooLargeIsRejectedBeforeItArrives(expectation: String) async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send(
                "POST /echo HTTP/1.1\r\nHost: a\r\n\(expectation)Content-Length: 11\r\n\r\n")
            let text = client.receive(through: "error 413\n")
            #expect(text.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
            #expect(text.contains("Connection: close\r\n"))
            // The client may send the body all the same; no reset destroys the response.
            #expect(client.send("hello world"))
            client.endInput()
            #expect(client.receiveToEnd() == "")
            await live.server.drain()
        }

        @Test func anUnknownPathIsAnsweredBeforeItsBodyAndTheConnectionGoesOn() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send("POST /nope HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
            #expect(client.receive(through: "error 404\n").hasPrefix("HTTP/1.1 404"))
            client.send("hello" + last)
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 200") == true)
            await live.server.drain()
        }

        @Test(arguments: [
            ("BAD\r\n\r\n", 400), ("GET /\(String(repeating: "x", count: 9_000))", 414),
            ("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 40_000))", 431),
            ("GET / HTTP/3.0\r\n\r\n", 505), ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
            ("GET /now HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", 417),
            ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n", 413),
            ("PUT /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 405),
        ])
        func rejectedRequestsAreAnsweredRecordedAndTheConnectionClosed(text: String, status: Int)
            async throws
        {
            let live = try LiveServer()
            let answer = try #require(live.exchange(text + ""))
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            #expect(answer.hasSuffix("error \(status)\n"))
            await live.server.drain()
            #expect(live.records.access.map(\.status) == [status])
        }

        @Test func anIncompleteRequestAndTheEndIsAnswered400() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send("GET /now HTTP/1.1\r\nHo")
            client.endInput()
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 400 ") == true)
            await live.server.drain()
        }

        @Test func anInvalidResponseHeaderIsA500AndReportedOnce() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send("GET /split HTTP/1.1\r\nHost: a\r\n\r\n")
            let text = client.receive(through: "error 500\n")
            #expect(text.hasPrefix("HTTP/1.1 500 ") && !text.contains("Evil"))
            client.send("GET /throw HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 500 ") == true)
            await live.server.drain()
            let faults = live.records.errors
            #expect(faults.count == 2 && faults[0].error is InvalidHeader)
            #expect(faults.map(\.requestID) == live.records.access.map(\.requestID))
        }

        @Test func aFaultThatIsAnsweredIsReportedOnceWithItsCause() async throws {
            let live = try LiveServer()
            let text = live.exchange("GET /answered-fault HTTP/1.0\r\n\r\n")
            #expect(text?.hasPrefix("HTTP/1.1 503 ") == true)
            #expect(text?.hasSuffix("\r\n\r\nlater\n") == true)
            await live.server.drain()
            #expect(live.records.errors.count == 1)
            #expect(live.records.errors.first?.error is SocketError)
            #expect(live.records.access.map(\.status) == [503])
        }

        @Test func eachRequestHasOneAccessRecordWithItsTemplateAndId() async throws {
            let live = try LiveServer()
            let text = try #require(
                live.exchange("GET /now?q=secret HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
            await live.server.drain()
            let record = try #require(live.records.access.first)
            #expect(live.records.access.count == 1)
            #expect(record.route == "/now" && record.method == .get && record.status == 200)
            #expect(record.bytes == text.utf8.count)
            #expect(text.contains("X-Request-Id: \(record.requestID)\r\n"))
            #expect(record.peer.address.description == "127.0.0.1" && record.peer.port != 0)
        }
    }
}
