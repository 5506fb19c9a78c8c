import Glibc
import Networking
import TestPrimitives
import Testing

@testable import HTTPEngine

/// Tests over real sockets, one at a time: their clients block a thread while they wait.
@Suite(.serialized) enum Live {}

extension Live {
    /// Many, slow and hostile connections.
    @Suite struct Pressure {
        @Test func anIncompleteHeadIsAnswered408() async throws {
            let live = try LiveServer { $0.headDeadline = .seconds(2) }
            let client = live.client()
            // These bytes must arrive before the deadline, even on a busy machine.
            client.send("GET /now HT")
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 408 ") == true)
            client.close()
            await live.server.drain()
            #expect(live.records.access.map(\.status) == [408])
        }

        @Test(arguments: [
            "GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "OPTIONS /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "nonsense\r\n\r\n", "GET /now HTTP/2.0\r\n\r\n",
        ])
        func theCommonFieldsAreInEveryResponse(request: String) async throws {
            let live = try LiveServer { $0.headers = [("X-Common", "yes")] }
            let client = live.client()
            client.send(request)
            let response = try #require(client.receiveToEnd())
            #expect(response.ranges(of: "\r\nX-Common: yes\r\n").count == 1)
            await live.server.drain()
        }

        @Test func anIncompleteBodyIsAnswered408() async throws {
            let live = try LiveServer { $0.bodyDeadline = .milliseconds(100) }
            let client = live.client()
            client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe")
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 408 ") == true)
            client.close()
            await live.server.drain()
            #expect(live.records.access.map(\.route) == ["/echo"])
        }

        @Test func anIdleConnectionIsClosedWithoutAResponse() async throws {
            let live = try LiveServer { $0.idleDeadline = .milliseconds(100) }
            let client = live.client()
            client.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.receiveToEnd()?.hasSuffix("now \n") == true)
            await live.server.drain()
        }

        @Test func aSuspendedHandlerDoesNotDelayOtherConnections() async throws {
            let live = try LiveServer { $0.loops = 1 }
            let slow = live.client()
            slow.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            let half = live.client()
            half.send("GET /no")
            let quick = live.client()
            quick.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(quick.receive(through: "now \n").hasPrefix("HTTP/1.1 200"))
            live.gate.open()
            #expect(slow.receive(through: "gate\n").hasPrefix("HTTP/1.1 200"))
            half.close()
            await live.server.drain()
        }

        @Test func aClientWithManyRequestsLetsTheOthersIn() async throws {
            let live = try LiveServer { $0.loops = 1 }
            let (holding, many, one) = (live.client(), live.client(), live.client())
            holding.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            let request = "GET /now?n=many HTTP/1.1\r\nHost: a\r\n\r\n"
            many.send(String(repeating: request, count: 200))
            one.send("GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            live.hold.release()
            #expect(one.receiveToEnd()?.hasPrefix("HTTP/1.1 404 ") == true)
            for _ in 0..<200 { _ = many.receive(through: "now many\n") }
            many.close()
            holding.close()
            await live.server.drain()
            let routes = live.records.access.map(\.route)
            #expect(routes.count == 202)
            #expect(try #require(routes.firstIndex(of: "-")) < 20)
        }

        @Test func theRequestsOfAClientThatDoesNotReadAreNotRead() async throws {
            let live = try LiveServer {
                $0.outboxBytes = 1_000
                $0.writeDeadline = .milliseconds(300)
            }
            let client = live.client(receiveBuffer: 4_096)
            // Asks for 5 GB of responses; the kernel buffers megabytes of them.
            client.send(String(repeating: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", count: 50_000))
            await live.server.drain()
            #expect(live.records.access.count < 10)
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func aConnectionOverTheClientLimitIsAnswered503() async throws {
            let live = try LiveServer { $0.maxConnectionsPerClient = 2 }
            let first = [live.client(), live.client()]
            for client in first {
                client.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = client.receive(through: "now \n")
            }
            let text = try #require(live.exchange("GET /now HTTP/1.1\r\nHost: a\r\n\r\n"))
            #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("Retry-After: 1\r\n"))
            first[0].send("GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            _ = first[0].receiveToEnd()
            #expect(live.exchange("GET /now HTTP/1.0\r\n\r\n")?.hasPrefix("HTTP/1.1 200") == true)
            first[1].close()
            await live.server.drain()
        }

        @Test func outOfDescriptorsTheServerClosesConnectionsAndRecovers() async throws {
            await #expect(processExitsWith: .success) {
                // In addition to those that the test runner has open, with no free one between.
                let inherited = (0..<Int32(4096)).last { fcntl($0, F_GETFD) >= 0 } ?? 2
                while (0...inherited).contains(dup(inherited)) {}
                let most = rlim_t(inherited + 63)
                var limit = rlimit(rlim_cur: most, rlim_max: most)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let live = try LiveServer()
                var clients: [RawClient] = []
                for _ in 0..<100 { clients.append(live.client()) }
                // Open until the server has failed to accept one.
                for await _ in live.errors { break }
                clients = []
                // Connections in the kernel's queue are accepted before the new one.
                let recovers = (0..<1000).contains { _ in
                    live.exchange("GET /now HTTP/1.0\r\n\r\n")?.hasPrefix("HTTP/1.1 200") == true
                }
                #expect(recovers)
                await live.server.drain()
            }
        }

        @Test func theHandlerOfAClosedConnectionIsCancelled() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send("GET /until-cancelled HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            client.reset()
            await live.cancelled.wait()
            // Not an error, and not a 500 that an operator would look for.
            for await record in live.ends {
                #expect(record.status == 499)
                break
            }
            await live.server.drain()
            #expect(live.records.errors.isEmpty)
        }
    }

    /// How the server stops.
    @Suite struct Draining {
        @Test func drainingAnswersRequestsInFlightAndClosesIdleConnections() async throws {
            let live = try LiveServer()
            let idle = live.client()
            idle.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = idle.receive(through: "now \n")
            let busy = live.client()
            busy.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            async let drained = live.server.drain()
            #expect(idle.receiveToEnd() == "")
            live.gate.open()
            let text = try #require(busy.receiveToEnd())
            #expect(text.contains("Connection: close\r\n") && text.hasSuffix("gate\n"))
            busy.close()
            #expect(await drained.isEmpty)
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test(arguments: [("/poll", "HTTP/1.1 200 "), ("/poll-that-throws", "HTTP/1.1 503 ")])
        func aLongPollIsAnsweredAtOnce(path: String, status: String) async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            #expect(await live.server.drain().isEmpty)
            let text = try #require(client.receiveToEnd())
            #expect(text.hasPrefix(status) && text.contains("\r\nConnection: close\r\n"))
            #expect(live.records.errors.isEmpty)
        }

        @Test func aLongPollThatBeginsDuringTheStopIsAnsweredAtOnce() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.drainGrace = .seconds(60)
            }
            let (busy, late) = (live.client(), live.client())
            late.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = late.receive(through: "now \n")
            busy.send("GET /poll HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            async let drained = live.server.drain()
            // Its response shows that the stop has begun.
            _ = busy.receiveToEnd()
            late.send("GET /poll HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(late.receiveToEnd()?.hasSuffix("nothing\n") == true)
            #expect(await drained.isEmpty)
        }

        @Test func afterBeginDrainingResponsesCloseAndTheListenerAccepts() async throws {
            let live = try LiveServer()
            await live.server.beginDraining()
            let text = live.exchange("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(text?.contains("Connection: close\r\n") == true)
            await live.server.drain()
        }

        @Test func afterTheDrainDeadlineConnectionsAreClosed() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.drainDeadline = .milliseconds(50)
                $0.drainGrace = .seconds(60)
            }
            let idle = live.client()
            idle.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = idle.receive(through: "now \n")
            let busy = live.client()
            busy.send("GET /until-cancelled HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            let half = live.client()
            half.send("GET /no")
            // Its bytes are read when those that came later are answered.
            #expect(live.exchange("GET /now HTTP/1.0\r\n\r\n")?.hasSuffix("now \n") == true)
            let aborted = await live.server.drain()
            #expect(aborted == ["GET /until-cancelled": 1, "the rest of a request": 1])
            #expect(busy.receiveToEnd() == "")
        }

        @Test func aStoppedServerAcceptsNoConnection() async throws {
            let live = try LiveServer()
            await live.server.drain()
            #expect(!live.client().send("x") || live.client().receive() == nil)
        }
    }

    /// Where the server listens.
    @Suite struct Listening {
        @Test(arguments: ["127.0.0.1", "0.0.0.0", "*", "::"])
        func everyKindOfAddressCanBeListenedOn(host: String) async throws {
            let live = try LiveServer { $0.host = host }
            #expect(live.port != 0)
            #expect(live.exchange("GET /now HTTP/1.0\r\n\r\n")?.hasPrefix("HTTP/1.1 200") == true)
            await live.server.drain()
            #expect(live.records.access.first?.peer.address.description == "127.0.0.1")
        }

        @Test func aTakenPortIsAnError() async throws {
            let live = try LiveServer()
            let error = #expect(throws: SocketError.self) {
                try LiveServer { $0.port = live.port }
            }
            #expect(error?.code == EADDRINUSE)
            await live.server.drain()
        }

        @Test func aHostNameIsNotAListenAddress() {
            #expect(throws: SocketError.self) { try LiveServer { $0.host = "localhost" } }
        }
    }
}
