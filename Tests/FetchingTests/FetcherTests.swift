import Glibc
import Synchronization
import Testing

@testable import Fetching

@Suite struct FetcherTests {
    private func error(_ request: OutboundRequest) async -> OutboundError? {
        do {
            _ = try await Fetcher().send(request)
            return nil
        } catch {
            return error as? OutboundError
        }
    }

    private func get(
        _ answer: String, timeout: Duration = .seconds(300), bodyLimit: Int = 1000
    ) async throws -> FetchedResponse {
        let listener = Listener(answer: answer)
        let request = OutboundRequest(
            .get, listener.url(), timeout: timeout, bodyLimit: bodyLimit)
        let response = try await Fetcher().send(request)
        withExtendedLifetime(listener) {}
        return response
    }

    @Test func aResponseHasStatusHeadersAndBody() async throws {
        let response = try await get(
            "HTTP/1.1 201 Created\r\nX-One:  a b \r\nx-one: c\r\nContent-Length: 2\r\n\r\nhi")
        #expect(response.status == 201)
        #expect(response.body == Array("hi".utf8))
        #expect(response.header("X-ONE") == "a b")
        #expect(response.header("none") == nil)
        #expect(response.headers.count == 3)
    }

    @Test func aCombiningCharacterDoesNotHideAColon() async throws {
        let response = try await get("HTTP/1.1 200 OK\r\nA:\u{301}b\r\nContent-Length: 0\r\n\r\n")
        #expect(response.header("a") == "\u{301}b")
    }

    @Test func headersOfInterimResponsesAreIgnored() async throws {
        let response = try await get(
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\nA: b\r\n\r\n")
        #expect(response.status == 204)
        #expect(response.headers.map(\.name) == ["A"])
    }

    @Test func aPostSendsHeadersAndBodyUnchanged() async throws {
        let seen = Mutex("")
        let listener = Listener { connection in
            let head = Listener.readHead(connection)
            let text = head + Listener.read(connection, count: 3)
            seen.withLock { $0 = text }
            Listener.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", connection)
        }
        _ = try await Fetcher().send(
            OutboundRequest(
                .post, listener.url("/p?q=1"), headers: [("X-A", "b: c"), ("X-Empty", "")],
                body: [0x61, 0x00, 0x62]))
        let request = seen.withLock { $0 }
        #expect(request.hasPrefix("POST /p?q=1 HTTP/1.1\r\n"))
        #expect(request.contains("\r\nX-A: b: c\r\n"))
        #expect(request.contains("\r\nX-Empty:\r\n"))
        #expect(request.contains("\r\nContent-Length: 3\r\n"))
        #expect(request.hasSuffix("\r\n\r\na\0b"))
    }

    @Test func redirectsAreNotFollowed() async throws {
        let response = try await get(
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        #expect(response.status == 302)
    }

    /// In a process of its own, because other tests read the environment at the same time.
    @Test func proxiesOfTheEnvironmentAreIgnored() async {
        await #expect(processExitsWith: .success) {
            setenv("http_proxy", "http://127.0.0.1:1", 1)
            let tests = FetcherTests()
            let response = try await tests.get("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            #expect(response.status == 200)
        }
    }

    @Test(arguments: ["Content-Length: 1001\r\n", "Connection: close\r\n"])
    func aResponseOverTheLimitIsAnError(header: String) async {
        let listener = Listener(
            answer: "HTTP/1.1 200 OK\r\n\(header)\r\n" + String(repeating: "a", count: 1001))
        let request = OutboundRequest(.get, listener.url(), bodyLimit: 1000)
        #expect(await self.error(request) == .tooLarge)
    }

    @Test func endlessHeadersAreAnError() async {
        let lines = String(
            repeating: "X-Filler: \(String(repeating: "a", count: 1000))\r\n", count: 80)
        let listener = Listener(answer: "HTTP/1.1 200 OK\r\n\(lines)\r\n")
        #expect(await self.error(OutboundRequest(.get, listener.url())) == .tooLarge)
    }

    @Test func aServerThatDripsBytesEndsAtTheTimeout() async {
        let listener = Listener { connection in
            _ = Listener.readHead(connection)
            Listener.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", connection)
            // Until the client gives up, which closes the connection.
            _ = Listener.read(connection, count: 1)
        }
        let request = OutboundRequest(.get, listener.url(), timeout: .milliseconds(100))
        #expect(await self.error(request) == .timedOut)
    }

    @Test func aResponseThatIsNotHTTPIsAnError() async {
        let listener = Listener(answer: "220 smtp.test ESMTP\r\n")
        guard case .failed = await self.error(OutboundRequest(.get, listener.url())) else {
            Issue.record("expected a failure")
            return
        }
    }

    @Test func anIncompleteResponseIsAnError() async {
        let listener = Listener(answer: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
        guard case .failed = await self.error(OutboundRequest(.get, listener.url())) else {
            Issue.record("expected a failure")
            return
        }
    }

    @Test func aPortWithoutAListenerIsUnreachable() async {
        let url = Listener(answer: "").url()
        // The listener is gone already.
        #expect(await self.error(OutboundRequest(.get, url)) == .unreachable)
    }

    @Test(arguments: [
        "", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/", "http://",
        "http://user:pass@127.0.0.1/", "http://a b/",
    ])
    func onlyHTTPURLsWithoutUserInfoAreSent(url: String) async {
        #expect(await self.error(OutboundRequest(.get, url)) == .invalidRequest)
    }

    @Test(arguments: [("X-A", "a\r\nX-B: c"), ("X-A\r\nX-B", "c"), ("", "c"), ("X-A", "\u{e9}")])
    func headersCannotBeSplit(name: String, value: String) async {
        let request = OutboundRequest(.get, "http://127.0.0.1:1/", headers: [(name, value)])
        #expect(await self.error(request) == .invalidRequest)
    }
}
