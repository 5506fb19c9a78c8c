import Glibc
import Networking
import TestPrimitives
import Testing

@testable import HTTPEngine

/// Tests over real sockets, one after another: their clients block a thread while they wait.
@Suite(.serialized) enum Live {}

extension Live {
    /// What many or hostile connections do to the server and to each other.
    @Suite struct Pressure {
        @Test func aHeadThatDripsIsAnswered408() async throws {
            let live = try LiveServer { $0.headDeadline = .milliseconds(100) }
            let client = live.client()
            client.send("GET /now HT")
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 408 ") == true)
            client.close()
            await live.server.drain()
            #expect(live.records.access.map(\.status) == [408])
        }

        @Test func aBodyThatDoesNotComeIsAnswered408() async throws {
            let live = try LiveServer { $0.bodyDeadline = .milliseconds(100) }
            let client = live.client()
            client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe")
            #expect(client.receiveToEnd()?.hasPrefix("HTTP/1.1 408 ") == true)
            client.close()
            await live.server.drain()
            #expect(live.records.access.map(\.route) == ["/echo"])
        }

        @Test func anIdleConnectionIsClosedInSilence() async throws {
            let live = try LiveServer { $0.idleDeadline = .milliseconds(100) }
            let client = live.client()
            client.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.receiveToEnd()?.hasSuffix("now \n") == true)
            await live.server.drain()
        }

        @Test func aWaitingHandlerDelaysNobodyElse() async throws {
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

        @Test func aClientThatNeverReadsIsNotReadEither() async throws {
            let live = try LiveServer {
                $0.outboxBytes = 1_000
                $0.writeDeadline = .milliseconds(300)
            }
            let client = live.client(receiveBuffer: 4_096)
            // 5 GB of answers are asked for; what the kernel holds of them would be megabytes.
            client.send(String(repeating: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", count: 50_000))
            await live.server.drain()
            #expect(live.records.access.count < 10)
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func aConnectionOverTheCapIsTold503() async throws {
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

        @Test func outOfDescriptorsTheServerTurnsClientsAwayAndRecovers() async throws {
            await #expect(processExitsWith: .success) {
                // Beyond those that the test runner itself has open and hands on.
                let inherited = (0..<Int32(4096)).last { fcntl($0, F_GETFD) >= 0 } ?? 2
                let most = rlim_t(inherited + 62)
                var limit = rlimit(rlim_cur: most, rlim_max: most)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                let live = try LiveServer()
                var clients: [RawClient] = []
                for _ in 0..<100 { clients.append(live.client()) }
                // Held until the server has found that it cannot accept one.
                for await _ in live.errors { break }
                clients = []
                // Those that waited in the kernel's queue take their turn before it has recovered.
                let recovers = (0..<1000).contains { _ in
                    live.exchange("GET /now HTTP/1.0\r\n\r\n")?.hasPrefix("HTTP/1.1 200") == true
                }
                #expect(recovers)
                await live.server.drain()
            }
        }

        @Test func aClientThatIsGoneTakesItsHandlerWithIt() async throws {
            let live = try LiveServer()
            let client = live.client()
            client.send("GET /until-cancelled HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            client.reset()
            await live.cancelled.wait()
            // Nobody's fault, and no 500 that an operator would look for.
            for await record in live.ends {
                #expect(record.status == 499)
                break
            }
            await live.server.drain()
            #expect(live.records.errors.isEmpty)
        }
    }

    /// How the server ends.
    @Suite struct Draining {
        @Test func drainingAnswersWhatIsInFlightAndClosesTheRest() async throws {
            let live = try LiveServer()
            let idle = live.client()
            idle.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = idle.receive(through: "now \n")
            let busy = live.client()
            busy.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            async let drained: Void = live.server.drain()
            #expect(idle.receiveToEnd() == "")
            live.gate.open()
            let text = try #require(busy.receiveToEnd())
            #expect(text.contains("Connection: close\r\n") && text.hasSuffix("gate\n"))
            busy.close()
            await drained
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func beforeDrainingAnswersCloseButTheListenerStillAccepts() async throws {
            let live = try LiveServer()
            await live.server.beginDraining()
            let text = live.exchange("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(text?.contains("Connection: close\r\n") == true)
            await live.server.drain()
        }

        @Test func afterItsPatienceTheServerCutsOff() async throws {
            let live = try LiveServer { $0.drainDeadline = .milliseconds(50) }
            let busy = live.client()
            busy.send("GET /until-cancelled HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            await live.server.drain()
            #expect(busy.receiveToEnd() == "")
        }

        @Test func aStoppedServerIsNotConnectedTo() async throws {
            let live = try LiveServer()
            await live.server.drain()
            #expect(!live.client().send("x") || live.client().receive() == nil)
        }
    }

    /// Where a server listens.
    @Suite struct Listening {
        @Test(arguments: ["127.0.0.1", "0.0.0.0", "*", "::"])
        func everyKindOfAddressIsListenedOn(host: String) async throws {
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

        @Test func aNameIsNoAddress() {
            #expect(throws: SocketError.self) { try LiveServer { $0.host = "localhost" } }
        }
    }
}
