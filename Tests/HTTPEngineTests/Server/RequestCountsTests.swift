import Scheduling
import Testing

@testable import HTTPEngine

extension Live {
    /// What the server counts for metrics.
    @Suite struct RequestCounting {
        private func requests(_ live: LiveServer) async -> [ServerTraffic.Requests] {
            await live.server.traffic().requests.sorted { "\($0)" < "\($1)" }
        }

        private func counted(
            _ route: String, _ method: String, _ status: Int, _ count: Int = 1
        ) -> ServerTraffic.Requests {
            .init(route: route, method: method, status: status, count: count)
        }

        @Test func requestsAreCountedByRouteMethodAndStatus() async throws {
            let live = try LiveServer()
            for (line, times) in [
                ("GET /now", 3), ("HEAD /now", 1), ("POST /now", 1), ("GET /missing", 2),
                ("GET /throw", 1), ("BREW /now", 1), ("STEEP /missing", 1),
            ] {
                for _ in 0..<times {
                    _ = live.exchange("\(line) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                }
            }
            _ = live.exchange("no request\r\n\r\n")
            await live.server.drain()
            #expect(
                await requests(live)
                    == [
                        counted("-", "GET", 404, 2), counted("-", "POST", 405),
                        counted("-", "other", 400), counted("-", "other", 404),
                        counted("-", "other", 405), counted("/now", "GET", 200, 3),
                        counted("/now", "HEAD", 200), counted("/throw", "GET", 500),
                    ].sorted { "\($0)" < "\($1)" })
        }

        @Test func eachRequestIsOneDuration() async throws {
            let live = try LiveServer()
            let client = live.client()
            for _ in 0..<5 {
                client.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = client.receive(through: "now \n")
            }
            client.close()
            await live.server.drain()
            let durations = await live.server.traffic().durations
            #expect(durations.map(\.route) == ["/now"])
            #expect(durations.map(\.histogram.count) == [5])
            #expect(try #require(durations.first).histogram.sum > 0)
        }

        @Test func recordsHaveTheTraceOfTheirRequest() async throws {
            let live = try LiveServer()
            let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            for field in ["traceparent: \(trace)\r\n", ""] {
                _ = live.exchange(
                    "GET /throw HTTP/1.1\r\nHost: a\r\n\(field)Connection: close\r\n\r\n")
            }
            await live.server.drain()
            let ids = ["00f067aa0ba902b7", nil]
            #expect(live.records.access.map(\.trace?.spanID) == ids)
            #expect(live.records.errors.map(\.trace?.spanID) == ids)
        }

        @Test func bytesAreThoseOfTheConnections() async throws {
            let live = try LiveServer()
            let request = "GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let response = try #require(live.exchange(request))
            await live.server.drain()
            let traffic = await live.server.traffic()
            #expect(traffic.receivedBytes == request.utf8.count)
            #expect(traffic.sentBytes == response.utf8.count)
        }

        /// One row for each template, whichever listeners serve it.
        @Test func listenersWithOneTemplateShareItsRow() async throws {
            let errors: ErrorRenderer = { _, _ in .text("error\n") }
            func router(_ templates: [String]) -> Router {
                let routes = templates.map { Route(.get, $0) { _ in .text("x") } }
                return Router(
                    groups: [RouteGroup(prefixes: ["/"], errors: errors, routes: routes)],
                    fallback: errors)
            }
            var templates = ["-"]
            _ = router(["/a", "/b/{id}"]).counted(in: &templates)
            _ = router(["/b/{id}", "/c"]).counted(in: &templates)
            #expect(templates == ["-", "/a", "/b/{id}", "/c"])
        }

        @Test func loopsAreAdded() {
            var total = RequestCounts(rows: 2)
            for status in [200, 201] {
                var loop = RequestCounts(rows: 2)
                loop.count(1, .get, status: 200, nanoseconds: 1)
                loop.count(1, .get, status: status, nanoseconds: 1)
                loop.count(0, nil, status: 400, nanoseconds: 1)
                loop.receivedBytes = 10
                loop.sentBytes = 20
                loop.netstrings = 1
                total.add(loop)
            }
            let traffic = total.traffic(of: ["-", "/"])
            #expect(
                traffic.requests == [
                    counted("-", "other", 400, 2), counted("/", "GET", 200, 3),
                    counted("/", "GET", 201, 1),
                ])
            #expect(traffic.durations.map(\.histogram.count) == [2, 4])
            #expect(traffic.receivedBytes == 20 && traffic.sentBytes == 40)
            #expect(traffic.netstrings == 2)
        }
    }
}
