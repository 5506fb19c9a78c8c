import Testing

@testable import HTTPEngine

@Suite struct RequestTargetTests {
    private func parts(_ text: String) -> [String?]? {
        let bytes = Array(text.utf8)
        func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        return RequestTarget(bytes, in: 0..<bytes.count).map {
            [part($0.path), $0.query.map(part), $0.authority.map(part)]
        }
    }

    @Test func everyFormOfATargetIsRead() {
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
    func anInvalidTargetIsNotRead(text: String) {
        #expect(parts(text) == nil)
    }

    @Test func escapesInAQueryMayBeAnyBytes() {
        #expect(parts("/?a=%00%ff") == ["/", "a=%00%ff", nil])
    }

    @Test func aTargetCanBeMadeRelativeToItsLine() {
        let bytes = Array("GET /a?b".utf8)
        let target = RequestTarget(bytes, in: 4..<8)?.relative(to: 2)
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

    @Test func everyErrorHasItsStatus() {
        #expect(HTTPError.malformed(.badTarget).status == .badRequest)
        #expect(HTTPError.methodNotAllowed(allowed: []).status == .methodNotAllowed)
        #expect(HTTPError.bodyTooLarge(limit: 1).status == .contentTooLarge)
        #expect(HTTPError.timeout.status == .requestTimeout)
        #expect(HTTPError.overloaded(retryAfter: 1).status == .serviceUnavailable)
        #expect(HTTPError.internalError.status == .internalServerError)
    }
}
