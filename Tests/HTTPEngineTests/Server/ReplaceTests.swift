import Networking
import TestPrimitives
import Testing

@testable import HTTPEngine

extension Live {
    /// Other services on the listeners of a server that runs.
    @Suite struct Replace {
        private let arrived = Level()
        private let gate = Latch()

        private func service(_ name: String, proxies: Bool = false) -> Listener.Service {
            let errors: ErrorRenderer = { error, _ in Response(status: error.status) }
            let routes = [
                Route(.get, "/") { .text("\(name) \($0.peer)\n") },
                Route(.post, "/") { .text("\(name) \($0.peer)\n") },
                Route(.get, "/gate") { [arrived, gate] _ in
                    arrived.raise()
                    await gate.wait()
                    return .text("\(name)\n")
                },
            ]
            var trusted = TrustedProxies()
            if proxies { trusted.addresses = [IPBlock(of: .loopback, length: 32)] }
            return .http(
                HTTPService(
                    router: Router(
                        groups: [RouteGroup(prefixes: ["/"], errors: errors, routes: routes)],
                        fallback: errors), proxies: trusted))
        }

        private func netstrings(_ answer: String) -> Listener.Service {
            .netstrings(
                NetstringService(
                    requestBytes: 100, maxConnections: 1, oversized: [], failed: [],
                    answer: { _ in Array(answer.utf8) }))
        }

        private func server(_ services: Listener.Service...) throws -> (Server, [UInt16]) {
            var configuration = ServerConfiguration()
            configuration.drainGrace = .zero
            configuration.loops = 2
            let server = Server(
                configuration: configuration,
                listeners: services.map {
                    Listener(address: .tcp(host: "127.0.0.1", port: 0), service: $0)
                }, hooks: ServerHooks())
            return (server, try server.start().map(\.port))
        }

        @Test func anOpenConnectionHasTheNewServiceFromItsNextRequestOn() async throws {
            let (server, ports) = try server(service("a"), service("x"))
            let clients = [ports[0], ports[0], ports[1]].map { RawClient(port: $0) }
            for client in clients { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
            #expect(
                clients.map { last($0.receive(through: "127.0.0.1\n")) } == [
                    "a 127.0.0.1", "a 127.0.0.1", "x 127.0.0.1",
                ])
            await server.replace([service("b", proxies: true), service("y")])
            for client in clients {
                client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n")
            }
            #expect(
                [
                    last(clients[0].receive(through: "203.0.113.9\n")),
                    last(clients[1].receive(through: "203.0.113.9\n")),
                    last(clients[2].receive(through: "127.0.0.1\n")),
                ] == ["b 203.0.113.9", "b 203.0.113.9", "y 127.0.0.1"])
            let fresh = RawClient(port: ports[0])
            fresh.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(last(fresh.receive(through: "127.0.0.1\n")) == "b 127.0.0.1")
            await server.drain()
        }

        /// Its route and its client are of one configuration.
        @Test func aRequestWhoseHeadWasReadStaysWithItsService() async throws {
            let (server, ports) = try server(service("a"))
            let (waiting, sending) = (RawClient(port: ports[0]), RawClient(port: ports[0]))
            waiting.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n")
            await arrived.reaches(1)
            sending.send(
                "POST / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\n"
                    + "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n")
            // The head was read.
            #expect(sending.receive(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
            await server.replace([service("b", proxies: true)])
            gate.open()
            #expect(last(waiting.receive(through: "a\n")) == "a")
            sending.send("x")
            #expect(last(sending.receive(through: "127.0.0.1\n")) == "a 127.0.0.1")
            await server.drain()
        }

        @Test func requestsOfBothServicesCountInTheSameRows() async throws {
            let (server, ports) = try server(service("a"))
            let client = RawClient(port: ports[0])
            for name in ["a", "b"] {
                client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(last(client.receive(through: "127.0.0.1\n")) == "\(name) 127.0.0.1")
                await server.replace([service("b")])
            }
            await server.drain()
            let requests = await server.traffic().requests.filter { $0.count > 0 }
            #expect(requests.map(\.route) == ["/"])
            #expect(requests.map(\.count) == [2])
        }

        @Test func netstringsHaveTheNewAnswersAndCountAsBefore() async throws {
            let (server, ports) = try server(netstrings("a"))
            let client = RawClient(port: ports[0])
            client.send("1:x,")
            #expect(client.receive(through: ",") == "1:a,")
            await server.replace([netstrings("b")])
            client.send("1:x,")
            #expect(client.receive(through: ",") == "1:b,")
            // There may be one connection, and there is.
            #expect(RawClient(port: ports[0]).receiveToEnd() == "")
            await server.drain()
        }

        private func last(_ text: String) -> String {
            // A CR LF is one character.
            String(text.split(whereSeparator: \.isNewline).last ?? "")
        }
    }
}
