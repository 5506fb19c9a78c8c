import TestPrimitives
import Testing

@testable import HTTPEngine

/// A server of netstrings on a free port. It answers a request with itself in parentheses.
private struct NetstringServer {
    let server: Server
    let port: UInt16
    let errors: Record<String>
    /// Answers that wait for `gate`, and those that were cancelled.
    let arrivals = Level()
    let gate = Latch()
    let cancelled = Latch()

    init(
        maxConnections: Int = 10, _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = ServerConfiguration()
        configuration.loops = 2
        adjust(&configuration)
        let (arrivals, gate, cancelled) = (arrivals, gate, cancelled)
        let service = NetstringService(
            requestBytes: 8, maxConnections: maxConnections, oversized: Array("long".utf8),
            failed: Array("failed".utf8)
        ) { request in
            switch String(decoding: request, as: UTF8.self) {
            case "gate":
                arrivals.raise()
                await gate.wait()
            case "fail": throw SocketError(call: "nothing", code: 0)
            case "forever":
                arrivals.raise()
                defer { cancelled.open() }
                try await Task.sleep(for: .seconds(600))
            default: break
            }
            return Array("(".utf8) + request + Array(")".utf8)
        }
        let record = Record<String>()
        errors = record
        server = Server(
            configuration: configuration,
            listeners: [
                Listener(
                    address: .tcp(host: "127.0.0.1", port: 0), service: .netstrings(service))
            ],
            hooks: ServerHooks(error: {
                record.add("\($0.id == nil ? "connection" : "request"): \($0.error)")
            }))
        port = try server.start()[0].port
    }

    func client() -> RawClient { RawClient(port: port) }
}

extension Live {
    /// Netstrings instead of HTTP on a listener.
    @Suite struct Netstrings {
        @Test func manyRequestsOnOneConnectionAreAnsweredInOrder() async throws {
            let live = try NetstringServer()
            let client = live.client()
            client.send("1:a,")
            #expect(client.receive(through: ",") == "3:(a),")
            client.send("1:b,4:fail,0:,9:123456789,1:c,")
            client.endInput()
            #expect(client.receiveToEnd() == "3:(b),6:failed,2:(),4:long,3:(c),")
            await live.server.drain()
            #expect(live.errors.entries == ["request: nothing failed: Success"])
        }

        @Test func bytesThatAreNoNetstringCloseTheConnection() async throws {
            let live = try NetstringServer()
            let client = live.client()
            client.send("1:a,GET / HTTP/1.1\r\n")
            #expect(client.receive(through: ",") == "3:(a),")
            // A reset, where not everything was read, or the end.
            #expect(client.receive()?.isEmpty ?? true)
            await live.server.drain()
            #expect(live.errors.entries.count == 1)
            #expect(live.errors.entries[0].hasPrefix("connection: what a client of 127.0.0.1:"))
        }

        @Test func manyConnectionsWithoutNetstringsAreOneReport() async throws {
            let live = try NetstringServer()
            for _ in 0..<20 {
                let client = live.client()
                client.send("x")
                #expect(client.receive()?.isEmpty ?? true)
            }
            await live.server.drain()
            #expect(live.errors.entries.count == 1)
        }

        @Test func laterReportsCountTheConnectionsBetween() throws {
            let errors = SessionInputErrors()
            let listener = ListenAddress.tcp(host: "127.0.0.1", port: 1)
            let start = ContinuousClock.now
            #expect(errors.note(of: listener, at: start)?.count == 1)
            #expect(errors.note(of: listener, at: start.advanced(by: .seconds(59))) == nil)
            let later = try #require(
                errors.note(of: listener, at: start.advanced(by: .seconds(60))))
            #expect(later.count == 2)
            #expect("\(later)".hasPrefix("what 2 clients of 127.0.0.1:1 sent is not "))
        }

        @Test func aConnectionBeyondTheLimitIsClosedAtOnce() async throws {
            let live = try NetstringServer(maxConnections: 2)
            let held = [live.client(), live.client()]
            for client in held {
                client.send("1:a,")
                #expect(client.receive(through: ",") == "3:(a),")
            }
            #expect(live.client().receiveToEnd() == "")
            // They do not count among those of HTTP.
            #expect(live.server.statistics.openConnections == 0)
            #expect(live.server.statistics.rejections == [.connectionLimit: 1])
            held[0].send("1")
            held[0].endInput()
            #expect(held[0].receiveToEnd() == "")
            let next = live.client()
            next.send("1:a,")
            #expect(next.receive(through: ",") == "3:(a),")
            await live.server.drain()
        }

        @Test func deadlinesCloseTheConnection() async throws {
            let live = try NetstringServer {
                $0.idleDeadline = .milliseconds(50)
                $0.headDeadline = .milliseconds(50)
            }
            for part in ["", "1:a,", "8:abc"] {
                let client = live.client()
                client.send(part)
                #expect(client.receiveToEnd() == (part == "1:a," ? "3:(a)," : ""))
            }
            await live.server.drain()
        }

        @Test func stoppingAnswersWhatHasArrived() async throws {
            let live = try NetstringServer()
            let (busy, idle) = (live.client(), live.client())
            idle.send("1:a,")
            #expect(idle.receive(through: ",") == "3:(a),")
            busy.send("4:gate,1:b,")
            await live.arrivals.reaches()
            #expect(live.server.statistics.requestsInFlight == 1)
            let server = live.server
            async let stopped = server.drain()
            #expect(idle.receiveToEnd() == "")
            live.gate.open()
            #expect(busy.receiveToEnd() == "6:(gate),3:(b),")
            _ = await stopped
            #expect(live.server.statistics.requestsInFlight == 0)
        }

        @Test func whileDrainingAReplyClosesTheConnection() async throws {
            let live = try NetstringServer()
            await live.server.beginDraining()
            let client = live.client()
            client.send("1:a,")
            #expect(client.receiveToEnd() == "3:(a),")
            await live.server.drain()
        }

        @Test func aClientThatHasGoneCancelsItsAnswer() async throws {
            let live = try NetstringServer()
            let client = live.client()
            client.send("7:forever,")
            await live.arrivals.reaches()
            client.reset()
            await live.cancelled.wait()
            await live.server.drain()
            #expect(live.errors.entries.isEmpty)
        }
    }
}
