import Networking
import TestPrimitives
import Testing

@testable import Fetching

/// Requests over connections that are kept open.
@Suite struct PersistentFetcherTests {
    private static let client = IPAddress(v4: 0xc000_0201)
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func fetcher(_ change: (inout FetchLimits) -> Void = { _ in }) -> PersistentFetcher {
        var limits = FetchLimits()
        change(&limits)
        return PersistentFetcher(origin: "store", limits: limits)
    }

    /// A request that a loaded machine has time for.
    private func get(_ url: String, bodyLimit: Int = 65_536) -> OutboundRequest {
        OutboundRequest(.get, url, timeout: .seconds(3600), bodyLimit: bodyLimit)
    }

    private func error(
        _ request: OutboundRequest, by fetcher: PersistentFetcher? = nil
    ) async -> OutboundError? {
        do {
            _ = try await (fetcher ?? self.fetcher()).send(request, for: Self.client)
            return nil
        } catch {
            return error as? OutboundError
        }
    }

    @Test func requestsOneAfterTheOtherUseOneConnection() async throws {
        let (listener, fetcher) = (Listener(keeping: Self.ok), fetcher())
        for path in ["/a", "/b", "/c"] {
            let response = try await fetcher.send(
                get(listener.url(path)), for: Self.client)
            #expect(response.status == 200 && response.body == Array("ok".utf8))
        }
        #expect(listener.visits == 1)
    }

    @Test func aConnectionThatTheServerClosedIsOpenedAgain() async throws {
        let (listener, fetcher) = (Listener(answer: Self.ok), fetcher())
        for _ in 0..<3 {
            let response = try await fetcher.send(
                get(listener.url()), for: Self.client)
            #expect(response.status == 200)
        }
        #expect(listener.visits == 3)
    }

    @Test func endlessExtensionsOfChunksAreAnError() async {
        let piece = String(repeating: "x", count: 4096)
        let listener = Listener { connection in
            _ = Listener.readHead(connection)
            Listener.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", connection)
            while Listener.send(piece, connection) {}
        }
        #expect(await error(get(listener.url())) == .tooLarge)
    }

    @Test func requestsAtOnceDoNotWaitForEachOther() async throws {
        let inside = Tally()
        // Answers when two requests are there.
        let listener = Listener(countingIn: inside)
        let fetcher = fetcher()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await fetcher.send(
                        get(listener.url()), for: Self.client
                    ).status
                }
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(inside.most == 2)
    }

    @Test func aClientHasNoMoreThanItsShare() async throws {
        let gate = Gate()
        let listener = Listener(heldBy: gate)
        let fetcher = fetcher {
            ($0.perClient, $0.waitingPerSlot) = (1, 0)
        }
        let first = Task {
            try await fetcher.send(get(listener.url()), for: Self.client)
        }
        await listener.isVisited()
        #expect(await error(get(listener.url()), by: fetcher) == .busy)
        gate.release()
        #expect(try await first.value.status == 200)
    }

    @Test func aServerThatDoesNotAnswerEndsAtTheTimeout() async {
        let listener = Listener { connection in
            _ = Listener.readHead(connection)
            _ = Listener.read(connection, count: 1)
        }
        let request = OutboundRequest(.get, listener.url(), timeout: .milliseconds(100))
        #expect(await error(request) == .timedOut)
    }

    @Test func aRequestThatIsCancelledLetsGoOfItsConnection() async {
        let closed = Level()
        let listener = Listener { connection in
            _ = Listener.readHead(connection)
            _ = Listener.read(connection, count: 1)
            closed.raise()
        }
        let fetcher = fetcher()
        let task = Task {
            try await fetcher.send(get(listener.url()), for: Self.client)
        }
        await listener.isVisited()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await closed.reaches(1)
    }

    @Test func aBodyOverTheLimitIsAnError() async {
        let listener = Listener(
            answer: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
                + String(repeating: "a", count: 1001))
        #expect(
            await error(get(listener.url(), bodyLimit: 1000)) == .tooLarge)
    }

    @Test func aServerThatIsAwayIsUnreachable() async {
        #expect(await error(get("http://127.0.0.1:1/")) == .unreachable)
    }

    @Test(arguments: ["ftp://127.0.0.1/", "file:///etc/passwd", "http://a b/"])
    func otherURLsAreNotAsked(url: String) async {
        #expect(await error(get(url)) == .invalidRequest)
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "HTTP/1.1 200 OK\r\nA: b"])
    func anIncompleteResponseIsAnError(answer: String) async {
        let listener = Listener(answer: answer)
        guard case .failed? = await error(get(listener.url())) else {
            Issue.record("not an error")
            return
        }
    }
}
