import Networking
import Synchronization
import TestPrimitives
import Testing

@testable import HTTPEngine

private let now = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"
private let last = "GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

extension Live {
    /// Connections on several loops.
    @Suite struct Loops {
        @Test func requestIDsAreUniqueOverAllLoops() async throws {
            let live = try LiveServer { $0.loops = 4 }
            for _ in 0..<12 { _ = live.exchange(now + now + last) }
            await live.server.drain()
            let ids = live.records.access.map(\.requestID)
            #expect(ids.count == 36 && Set(ids).count == 36)
        }

        @Test func theTotalLimitHoldsUntilConnectionsAreClosed() async throws {
            let live = try LiveServer { $0.maxConnections = 2 }
            let held = [live.client(), live.client()]
            for client in held {
                client.send(now)
                _ = client.receive(through: "now \n")
            }
            #expect(live.server.statistics.openConnections == 2)
            #expect(live.exchange(last)?.hasPrefix("HTTP/1.1 503 ") == true)
            #expect(live.server.statistics.openConnections == 2)
            for client in held {
                client.send(last)
                _ = client.receiveToEnd()
            }
            #expect(live.exchange(last)?.hasPrefix("HTTP/1.1 200 ") == true)
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func only64ConnectionsOverTheLimitAreAnswered() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.maxConnections = 1
                $0.lingerDeadline = .seconds(60)
            }
            let held = live.client()
            held.send(now)
            _ = held.receive(through: "now \n")
            // Up to 64 of them are answered, and stay open until the client closes.
            let flood = (0..<80).map { _ in live.client() }
            let answers = flood.map { client in
                client.receive(through: "\r\n\r\n").hasPrefix("HTTP/1.1 503 ")
            }
            #expect(answers.filter { $0 }.count == 64)
            for client in flood { client.close() }
            held.send(now)
            #expect(held.receive(through: "now \n").hasPrefix("HTTP/1.1 200 "))
            held.close()
            await live.server.drain()
        }

        @Test func aConnectionThatWasResetIsClosed() async throws {
            let live = try LiveServer()
            for part in [
                "", "GET /n", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nh",
            ] {
                let client = live.client()
                client.send(now + part)
                _ = client.receive(through: "now \n")
                client.reset()
            }
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
            #expect(live.records.errors.isEmpty)
            #expect(live.records.access.map(\.status).filter { $0 == 200 }.count == 3)
        }

        @Test func theRecordOfAHEADRequestHasTheBytesThatWereSent() async throws {
            let live = try LiveServer()
            let text = try #require(
                live.exchange("HEAD /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
            #expect(text.hasSuffix("\r\n\r\n") && text.contains("Content-Length: 100000\r\n"))
            await live.server.drain()
            #expect(live.records.access.map(\.bytes) == [text.utf8.count])
        }

        @Test func theRecordOfAnUnknownPathDoesNotHaveThePath() async throws {
            let live = try LiveServer()
            _ = live.exchange(last.replacing("/now", with: "/secret"))
            await live.server.drain()
            let record = try #require(live.records.access.first)
            #expect(record.route == "-" && record.status == 404 && record.method == .get)
        }

        @Test func jobsGetATurnBesideAClientThatNeverStops() async throws {
            let live = try LiveServer { $0.loops = 1 }
            let isDone = Mutex(false)
            let began = Latch()
            async let flood: Void = onOwnThread {
                let client = live.client()
                while !isDone.withLock({ $0 }) {
                    client.send(now)
                    _ = client.receive(through: "now \n")
                    began.open()
                }
                client.close()
            }
            await began.wait()
            for _ in 0..<100 { await live.server.awaitTurn() }
            isDone.withLock { $0 = true }
            try await flood
            await live.server.drain()
        }

        @Test func aClientIsAnsweredBesideJobsThatNeverStop() async throws {
            let live = try LiveServer { $0.loops = 1 }
            let jobs = Task {
                while !Task.isCancelled { await live.server.awaitTurn() }
            }
            for _ in 0..<100 {
                #expect(live.exchange(last)?.hasPrefix("HTTP/1.1 200 ") == true)
            }
            jobs.cancel()
            await jobs.value
            await live.server.drain()
        }

        @Test func aServerThatNeverStartedCanBeStopped() async throws {
            let router = Router(groups: []) { error, _ in Response(status: error.status) }
            let server = Server(
                configuration: ServerConfiguration(),
                listeners: [Listener(address: .tcp(host: "127.0.0.1", port: 0), router: router)],
                hooks: ServerHooks())
            await server.beginDraining()
            server.stopAccepting()
            await server.drain()
            #expect(server.statistics.openConnections == 0)
        }

        @Test func aServerStartsOnce() async {
            await #expect(processExitsWith: .failure) {
                let live = try LiveServer()
                _ = try live.server.start()
            }
        }

        @Test func drainingTwiceIsAllowed() async throws {
            let live = try LiveServer()
            #expect(live.exchange(last)?.hasPrefix("HTTP/1.1 200 ") == true)
            await live.server.drain()
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test(arguments: [false, true])
        func aSiteHasItsShareOfTheConnectionsAndATrustedProxyIsExempt(isProxy: Bool) async throws {
            let live = try LiveServer {
                $0.maxConnectionsPerSite = 2
                $0.maxConnectionsPerClient = isProxy ? 2 : 9
                if isProxy { $0.proxies.addresses = [IPBlock(of: .loopback, length: 32)] }
            }
            let open = [live.client(), live.client()]
            for client in open {
                client.send(now)
                _ = client.receive(through: "now \n")
            }
            let status = isProxy ? "HTTP/1.1 200 " : "HTTP/1.1 503 "
            #expect(live.exchange(last)?.hasPrefix(status) == true)
            #expect(live.server.statistics.rejections == (isProxy ? [:] : [.siteLimit: 1]))
            for client in open { client.close() }
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
        }

        @Test func statisticsCountConnectionsRequestsAndRejections() async throws {
            let live = try LiveServer { $0.maxConnectionsPerClient = 2 }
            let busy = live.client()
            busy.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            await live.arrivals.reaches()
            let idle = live.client()
            idle.send(now)
            _ = idle.receive(through: "now \n")
            #expect(live.exchange(last)?.hasPrefix("HTTP/1.1 503 ") == true)
            var statistics = live.server.statistics
            #expect(statistics.openConnections == 2 && statistics.acceptedConnections == 2)
            #expect(statistics.requestsInFlight == 1 && statistics.bufferedBytes == 0)
            #expect(statistics.rejections == [.clientLimit: 1])
            live.gate.open()
            for client in [busy, idle] { client.close() }
            await live.server.drain()
            statistics = live.server.statistics
            #expect(statistics.openConnections == 0 && statistics.requestsInFlight == 0)
            #expect(statistics.acceptedConnections == 2)
        }

        @Test func eachListenerHasItsOwnRoutes() async throws {
            func listener(_ name: String) -> Listener {
                let errors: ErrorRenderer = { _, _ in .text("\(name) error\n") }
                let route = Route(.get, "/\(name)") { _ in .text("\(name)\n") }
                let group = RouteGroup(prefixes: ["/"], errors: errors, routes: [route])
                return Listener(
                    address: .tcp(host: "127.0.0.1", port: 0),
                    router: Router(groups: [group], fallback: errors))
            }
            let server = Server(
                configuration: ServerConfiguration(), listeners: [listener("a"), listener("b")],
                hooks: ServerHooks())
            let ports = try server.start().map(\.port)
            #expect(Set(ports).count == 2)
            for (port, own, other) in [(ports[0], "a", "b"), (ports[1], "b", "a")] {
                for (path, expected) in [(own, "\(own)\n"), (other, "\(own) error\n")] {
                    let client = RawClient(port: port)
                    client.send("GET /\(path) HTTP/1.0\r\n\r\n")
                    #expect(client.receiveToEnd()?.hasSuffix("\r\n\r\n" + expected) == true)
                }
            }
            await server.drain()
        }

        @Test func whenOneListenerCannotBeOpenedNoneIs() async throws {
            let live = try LiveServer()
            let router = Router(groups: []) { error, _ in Response(status: error.status) }
            let server = Server(
                configuration: ServerConfiguration(),
                listeners: [0, live.port].map {
                    Listener(address: .tcp(host: "127.0.0.1", port: $0), router: router)
                }, hooks: ServerHooks())
            #expect(throws: SocketError.self) { try server.start() }
            await server.drain()
            await live.server.drain()
        }
    }
}
