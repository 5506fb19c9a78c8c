import Networking
import Testing

@testable import HTTPEngine

@Suite struct ConnectionInputTests {
    private static let router = Router(
        groups: [
            RouteGroup(
                prefixes: ["/api"], errors: { error, _ in .text("api \(error.status.code)") },
                routes: [
                    Route(.get, "/api/a/{name}") { _ in .text("a") },
                    Route(.post, "/api/small", bodyLimit: 4) { _ in .text("small") },
                ])
        ], fallback: { error, _ in .text("fallback \(error.status.code)") })

    private static let start = MonotonicTime(nanoseconds: 0)

    private var input = Self.input()

    private static func input(awaitsProxyHeader: Bool = false) -> ConnectionInput {
        ConnectionInput(
            peer: SocketAddress(.loopback, port: 9), service: HTTPService(router: router),
            awaitsProxyHeader: awaitsProxyHeader, limits: .standard, bodyBytes: 10, at: start)
    }

    @discardableResult
    private mutating func receive(_ text: String, at nanoseconds: Int64 = 0)
        -> ConnectionInput.Received
    {
        var text = text
        return text.withUTF8 {
            input.receive(
                UnsafeRawBufferPointer($0), at: MonotonicTime(nanoseconds: nanoseconds))
        }
    }

    /// The next event as text that can be compared.
    private mutating func next() -> String {
        switch input.next(id: RequestID(prefix: 0, number: 7), at: Self.start) {
        case .needMore: return "need more"
        case .bodyExpected: return "body expected"
        case .bodyDropped: return "body dropped"
        case .exchange(let exchange, let next): return "\(describe(exchange)), then \(next)"
        case .rejected(let exchange): return "rejected: \(exchange.map(describe) ?? "-")"
        }
    }

    private func describe(_ exchange: Exchange) -> String {
        switch exchange.responder {
        case .handler(_, let request):
            "\(request.route ?? "-") \(String(decoding: request.body, as: UTF8.self))"
        case .response(let response, let route):
            "\(response.status.code) \(String(decoding: response.body, as: UTF8.self))"
                + (route == nil ? "" : " of \(route?.route.template ?? "")")
        }
    }

    @Test mutating func aRequestWithoutABodyIsCompleteWithItsHead() {
        receive("GET /api/a/x HTTP/1.1\r\nHost: a\r\n")
        #expect(next() == "need more")
        receive("\r\n")
        #expect(next() == "/api/a/{name} , then request")
        #expect(next() == "need more")
        #expect(input.isBetweenRequests)
    }

    @Test mutating func aRequestWithABodyIsCompleteWithItsBody() {
        receive("POST /api/small HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
        #expect(next() == "body expected")
        #expect(next() == "need more")
        receive("cdGET")
        #expect(next() == "/api/small abcd, then request")
        #expect(input.hasUnreadBytes && !input.isBetweenRequests)
    }

    @Test mutating func aBodyLargerThanTheLimitOfItsRouteIsRejectedWithTheHead() {
        receive("POST /api/small HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
        #expect(next() == "rejected: 413 api 413 of /api/small")
    }

    @Test mutating func aChunkedBodyIsRejectedWhenItIsTooLarge() {
        receive("POST /api/small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(next() == "body expected")
        receive("5\r\n")
        #expect(next() == "rejected: 413 api 413 of /api/small")
    }

    @Test mutating func theSmallBodyOfAnUnknownPathIsDropped() {
        receive("POST /api/no HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")
        #expect(next() == "404 api 404, then droppedBody")
        receive("0123456789")
        #expect(next() == "body dropped")
        #expect(input.isBetweenRequests)
    }

    @Test(arguments: ["Content-Length: 11\r\n", "Expect: 100-continue\r\nContent-Length: 1\r\n"])
    mutating func aLargeOrAnnouncedBodyOfAnUnknownPathEndsTheConnection(fields: String) {
        receive("POST /no HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        #expect(next() == "404 fallback 404, then nothing(lingers: true)")
    }

    @Test mutating func afterConnectionCloseNothingIsRead() {
        receive("GET /api/a/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(next() == "/api/a/{name} , then nothing(lingers: false)")
        input = Self.input()
        receive("GET /api/no HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nmore")
        #expect(next() == "404 api 404, then nothing(lingers: true)")
    }

    @Test mutating func aMalformedHeadIsRejectedByTheGroupOfItsPath() {
        receive("GET /api/a/x HTTP/1.1\r\nHost : a\r\n")
        #expect(next() == "rejected: 400 api 400")
    }

    @Test mutating func aMalformedDroppedBodyHasNoSecondResponse() {
        receive("POST /no HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n")
        #expect(next() == "404 fallback 404, then droppedBody")
        #expect(next() == "rejected: -")
    }

    @Test mutating func continueIsOwedOnceAndOnlyWhileTheBodyIsAwaited() {
        let head =
            "POST /api/small HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
        receive(head)
        #expect(next() == "body expected")
        let first = input.takeContinue()
        let second = input.takeContinue()
        #expect(first && !second)
        // The client has not waited.
        input = Self.input()
        receive(head + "x")
        #expect(next() == "body expected")
        let third = input.takeContinue()
        #expect(!third)
    }

    @Test mutating func anIncompleteRequestIsRejectedWithItsRoute() {
        receive("POST /api/small HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
        #expect(next() == "body expected")
        let exchange = input.reject(.timeout, id: RequestID(prefix: 0, number: 1))
        #expect(exchange.map(describe) == "408 api 408 of /api/small")
        #expect(exchange?.id.number == 7 && exchange?.closesConnection == true)
    }

    @Test mutating func aProxyHeaderNamesTheClientAndTheRestIsARequest() {
        input = Self.input(awaitsProxyHeader: true)
        #expect(receive("PROXY TCP4 192.0.2.1 ") == .incompleteProxyHeader)
        #expect(input.hasPartialProxyHeader)
        let rest = "198.51.100.2 4711 80\r\nGET /api/a/x HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(receive(rest) == .proxyHeader)
        #expect(input.peer.description == "192.0.2.1:4711")
        #expect(!input.hasPartialProxyHeader && input.hasUnreadBytes)
        #expect(next() == "/api/a/{name} , then request")
    }

    @Test mutating func anInvalidProxyHeaderHasItsReason() {
        input = Self.input(awaitsProxyHeader: true)
        #expect(receive("GET / HTTP/1.1\r\n") == .invalidProxyHeader(.missing))
    }

    @Test mutating func aRequestBeginsWithItsFirstByte() throws {
        receive("GET /api/a/x HTT", at: 5)
        receive("P/1.1\r\nHost: a\r\n\r\n", at: 9)
        guard
            case .exchange(let exchange, _) = input.next(
                id: RequestID(prefix: 0, number: 1), at: MonotonicTime(nanoseconds: 9))
        else {
            Issue.record("no exchange")
            return
        }
        #expect(exchange.began == MonotonicTime(nanoseconds: 5))
    }

    @Test mutating func aSmallBufferIsKeptUntilItIsReleased() {
        receive("GET /api/a/b HTTP/1.1\r\nHost: a\r\n")
        input.releaseBuffers()
        receive("\r\n")
        #expect(next() == "/api/a/{name} , then request")
        #expect(input.heldBytes > 0)
        input.releaseBuffers()
        #expect(input.heldBytes == 0)
    }

    @Test mutating func discardingGivesBackTheMemory() {
        receive("POST /api/small HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
        #expect(next() == "body expected")
        #expect(input.heldBytes > 0)
        input.discard()
        #expect(input.heldBytes == 0)
    }
}
