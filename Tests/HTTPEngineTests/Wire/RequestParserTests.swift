import Testing

@testable import HTTPEngine

@Suite struct RequestParserTests {
    @Test(arguments: validRequests)
    func everyPrefixOfAValidRequestNeedsMore(text: String) {
        let bytes = Array(text.utf8)
        for end in 0..<bytes.count {
            let lines = transcript(of: Array(bytes[..<end]), pieces: [])
            #expect(!lines.contains { $0.hasPrefix("invalid") || $0.hasPrefix("too") })
            #expect(!lines.contains { $0.hasPrefix("body") })
        }
        #expect(transcript(of: bytes, pieces: []).last?.hasPrefix("body") == true)
    }

    @Test(arguments: validRequests)
    func theSplitOfAValidRequestDoesNotMatter(text: String) {
        let bytes = Array(text.utf8)
        let dripped = transcript(of: bytes, pieces: Array(repeating: 1, count: bytes.count))
        #expect(dripped == transcript(of: bytes, pieces: []))
    }

    /// For the response to a head that stays incomplete.
    @Test(arguments: [
        ("", nil), ("GE", nil), ("GET ", ""), ("GET /ap", "/ap"), ("GET /api HT", "/api"),
        ("GET /api HTTP/1.1\r\nHost: a\r\n", "/api"),
        ("GET /api HTTP/1.1\r\nHost: a\r\n\r\nPUT /ne", "/ne"),
    ])
    func anIncompleteHeadHasItsPath(text: String, path: String?) {
        var parser = RequestParser(limits: ParserLimits.standard)
        Array(text.utf8).withUnsafeBytes { parser.append($0) }
        while true {
            switch parser.next() {
            case .head: parser.readBody(limit: 0)
            case .body: continue
            case .needMore, .tooLarge, .invalid:
                #expect(parser.partialHead?.path == path)
                #expect(parser.partialHead?.isWhole != true)
                return
            }
        }
    }

    @Test func pipelinedRequestsAreReadInOrder() {
        let lines = transcript(of: validRequests.joined())
        let alone = validRequests.flatMap { transcript(of: $0) }
        #expect(lines == alone)
    }

    @Test func fieldsAndFramingAreRead() {
        #expect(
            transcript(of: validRequests[4]) == [
                "POST /p [\"host=a\", \"Transfer-Encoding=chunked\"] chunked 1.1 keeps",
                "body \(Array("hello0123456789".utf8))",
            ])
        #expect(
            transcript(of: validRequests[8]) == [
                "GET /old [\"Connection=Keep-Alive, x\"] none 1.0 keeps", "body []",
            ])
        #expect(transcript(of: validRequests[9])[0].hasSuffix("length(2) 1.1 keeps expects"))
    }

    @Test func valuesAreTrimmedAndMayBeEmpty() {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nA:\r\nB: \t x y\t \r\n\r\n"
        #expect(transcript(of: text)[0].contains("\"A=\", \"B=x y\""))
    }

    @Test func nothingIsReadAfterAnError() {
        let lines = transcript(of: "BAD\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(lines == ["invalid badRequestLine - -"])
    }

    @Test func aMinorVersionAboveOneIsOne() {
        #expect(transcript(of: "GET / HTTP/1.7\r\nHost: a\r\n\r\n")[0].hasSuffix("1.1 keeps"))
    }

    @Test func aRequestOfHTTP10NeedsNoHostAndHasNoExpectation() {
        let text = "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx"
        #expect(transcript(of: text)[0].hasSuffix("length(1) 1.0"))
    }

    @Test func theEndOfADroppedBodyIsFound() {
        var parser = RequestParser(limits: ParserLimits.standard)
        let text = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET"
        Array(text.utf8).withUnsafeBytes { parser.append($0) }
        guard case .head = parser.next() else { return #expect(Bool(false), "no head") }
        parser.readBody(limit: 3, keeps: false)
        guard case .body(let body) = parser.next() else { return #expect(Bool(false), "no body") }
        #expect(body.isEmpty)
        #expect(parser.unread == 3)
    }

    @Test func aParserBetweenRequestsIsNotInTheMiddleOfOne() {
        var parser = RequestParser(limits: ParserLimits.standard)
        #expect(parser.isBetweenRequests)
        // Some clients send a CR LF after a body; it does not begin a request.
        for (text, isBetween) in [("\r\n", true), ("G", false)] {
            Array(text.utf8).withUnsafeBytes { parser.append($0) }
            guard case .needMore = parser.next() else { return #expect(Bool(false)) }
            #expect(parser.isBetweenRequests == isBetween)
        }
    }
}
