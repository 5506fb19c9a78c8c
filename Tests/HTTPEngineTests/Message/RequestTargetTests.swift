import Testing

@testable import HTTPEngine

@Suite struct RequestTargetTests {
    private func parts(_ text: String) -> [String?]? {
        let octets = Array(text.utf8)
        func part(_ range: Range<Int>) -> String { String(decoding: octets[range], as: UTF8.self) }
        return RequestTarget(octets, in: 0..<octets.count).map {
            [part($0.path), $0.query.map(part), $0.authority.map(part)]
        }
    }

    @Test func everyFormIsTakenApart() {
        #expect(parts("/") == ["/", nil, nil])
        #expect(parts("/a/b?c=d?e") == ["/a/b", "c=d?e", nil])
        #expect(parts("/a?") == ["/a", "", nil])
        #expect(parts("http://h:80/a?b") == ["/a", "b", "h:80"])
        #expect(parts("HTTPS://h") == ["", nil, "h"])
        #expect(parts("http://h?q") == ["", "q", "h"])
        #expect(parts("*") == ["*", nil, nil])
        #expect(parts("//h/a") == ["//h/a", nil, nil])
    }

    @Test(arguments: [
        "", "a", "**", "*/", "http:/a", "http://", "http:///a", "ws://h/", "/a#b", "/a b", "/\"",
        "/[", "/|", "/\\", "/^", "/\u{7f}", "/%", "/%1", "/%g1", "/%00", "/%C3", "/%c3%28",
        "/?a=%", "/?a b",
    ])
    func thisIsNoTarget(text: String) {
        #expect(parts(text) == nil)
    }

    @Test func escapesInAQueryAreTheHandlersToJudge() {
        #expect(parts("/?a=%00%ff") == ["/", "a=%00%ff", nil])
    }

    @Test func aTargetMovesWithItsLine() {
        let octets = Array("GET /a?b".utf8)
        let target = RequestTarget(octets, in: 4..<8)?.relative(to: 2)
        #expect(target?.path == 2..<4)
        #expect(target?.query == 5..<6)
    }
}

@Suite struct StatusTests {
    @Test func everyNamedStatusHasAReason() {
        for status in [Status.ok, .created, .noContent, .unprocessableContent, .tooManyRequests] {
            #expect(!status.reason.isEmpty)
        }
        #expect(Status.contentTooLarge.reason == "Content Too Large")
        #expect(Status(code: 599).reason.isEmpty)
    }

    @Test func onlyNoContentAndNotModifiedForbidContent() {
        let forbidding = (200...599).map { Status(code: $0) }.filter(\.forbidsContent)
        #expect(forbidding == [.noContent, .notModified])
    }

    @Test func aFaultHasTheStatusItIsFor() {
        #expect(Fault.malformed(.badTarget).status == .badRequest)
        #expect(Fault.methodNotAllowed(allowed: []).status == .methodNotAllowed)
        #expect(Fault.bodyTooLarge(limit: 1).status == .contentTooLarge)
        #expect(Fault.timeout.status == .requestTimeout)
        #expect(Fault.overloaded(retryAfter: 1).status == .serviceUnavailable)
        #expect(Fault.thrown(CancellationError()).status == .internalServerError)
    }
}
