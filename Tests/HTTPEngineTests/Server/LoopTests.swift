import Testing

@testable import HTTPEngine

private let now = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"
private let last = "GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

extension Live {
    /// Connections coming and going, on several loops.
    @Suite struct Loops {
        @Test func requestsHaveIdsOfTheirOwnWhicheverLoopServesThem() async throws {
            let live = try LiveServer { $0.loops = 4 }
            for _ in 0..<12 { _ = live.exchange(now + now + last) }
            await live.server.drain()
            let ids = live.records.access.map(\.requestID)
            #expect(ids.count == 36 && Set(ids).count == 36)
        }

        @Test func theCapOfAllHoldsWhoeverAsksAndEndsWithTheirConnections() async throws {
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

        @Test func aFloodOverTheCapIsNotEvenAnswered() async throws {
            let live = try LiveServer {
                $0.loops = 1
                $0.maxConnections = 1
                $0.lingerDeadline = .seconds(60)
            }
            let held = live.client()
            held.send(now)
            _ = held.receive(through: "now \n")
            // Each is answered and then waited for, up to 64 of them.
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

        @Test func aClientThatResetsInTheMiddleIsForgotten() async throws {
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

        @Test func aHeadRequestIsRecordedWithWhatWasSent() async throws {
            let live = try LiveServer()
            let text = try #require(
                live.exchange("HEAD /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
            #expect(text.hasSuffix("\r\n\r\n") && text.contains("Content-Length: 100000\r\n"))
            await live.server.drain()
            #expect(live.records.access.map(\.bytes) == [text.utf8.count])
        }

        @Test func whatNoRouteIsForIsRecordedWithoutItsPath() async throws {
            let live = try LiveServer()
            _ = live.exchange(last.replacing("/now", with: "/secret"))
            await live.server.drain()
            let record = try #require(live.records.access.first)
            #expect(record.route == "-" && record.status == 404 && record.method == .get)
        }

        @Test func aServerThatNeverStartedIsStoppedAlready() async throws {
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

        @Test func drainingTwiceIsDrainingOnce() async throws {
            let live = try LiveServer()
            #expect(live.exchange(last)?.hasPrefix("HTTP/1.1 200 ") == true)
            await live.server.drain()
            await live.server.drain()
            #expect(live.server.statistics.openConnections == 0)
        }
    }
}
