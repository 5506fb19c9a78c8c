import Testing

@testable import HTTPEngine

@Suite struct RequestParserTests {
    @Test(arguments: validRequests)
    func everyPrefixOfAValidRequestIsNotYet(text: String) {
        let bytes = Array(text.utf8)
        for end in 0..<bytes.count {
            let lines = transcript(of: Array(bytes[..<end]), pieces: [])
            #expect(!lines.contains { $0.hasPrefix("refused") || $0.hasPrefix("too") })
            #expect(!lines.contains { $0.hasPrefix("body") })
        }
        #expect(transcript(of: bytes, pieces: []).last?.hasPrefix("body") == true)
    }

    @Test(arguments: validRequests)
    func byteByByteIsAllAtOnce(text: String) {
        let bytes = Array(text.utf8)
        let dripped = transcript(of: bytes, pieces: Array(repeating: 1, count: bytes.count))
        #expect(dripped == transcript(of: bytes, pieces: []))
    }

    /// For the answer to a head that never comes whole.
    @Test(arguments: [
        ("", nil), ("GE", nil), ("GET ", ""), ("GET /ap", "/ap"), ("GET /api HT", "/api"),
        ("GET /api HTTP/1.1\r\nHost: a\r\n", "/api"),
        ("GET /api HTTP/1.1\r\nHost: a\r\n\r\nPUT /ne", "/ne"),
    ])
    func whatHasComeOfAHeadCanBeRead(text: String, path: String?) {
        var parser = RequestParser(limits: ParserLimits.standard)
        Array(text.utf8).withUnsafeBytes { parser.append($0) }
        while true {
            switch parser.next() {
            case .head: parser.readBody(limit: 0)
            case .body: continue
            case .needMore, .tooLarge, .refused:
                #expect(parser.partialHead?.path == path)
                #expect(parser.partialHead?.isWhole != true)
                return
            }
        }
    }

    @Test func pipelinedRequestsComeInOrder() {
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

    @Test func valuesLoseTheWhiteSpaceAroundThemAndMayBeEmpty() {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nA:\r\nB: \t x y\t \r\n\r\n"
        #expect(transcript(of: text)[0].contains("\"A=\", \"B=x y\""))
    }

    @Test func nothingIsReadAfterARefusal() {
        let lines = transcript(of: "BAD\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(lines == ["refused badRequestLine - -"])
    }

    @Test func aMinorVersionAboveOneIsSpokenToAsOne() {
        #expect(transcript(of: "GET / HTTP/1.7\r\nHost: a\r\n\r\n")[0].hasSuffix("1.1 keeps"))
    }

    @Test func aRequestOfHTTP10NeedsNoHostAndExpectsNothing() {
        let text = "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx"
        #expect(transcript(of: text)[0].hasSuffix("length(1) 1.0"))
    }

    @Test func droppedBodiesAreStillFramed() {
        var parser = RequestParser(limits: ParserLimits.standard)
        let text = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET"
        Array(text.utf8).withUnsafeBytes { parser.append($0) }
        guard case .head = parser.next() else { return #expect(Bool(false), "no head") }
        parser.readBody(limit: 3, keeps: false)
        guard case .body(let body) = parser.next() else { return #expect(Bool(false), "no body") }
        #expect(body.isEmpty)
        #expect(parser.unread == 3)
    }

    @Test func betweenRequestsIsNotInTheMiddleOfOne() {
        var parser = RequestParser(limits: ParserLimits.standard)
        #expect(parser.isBetweenRequests)
        // A CR LF after a body is from clients that should not send it, and begins nothing.
        for (text, isBetween) in [("\r\n", true), ("G", false)] {
            Array(text.utf8).withUnsafeBytes { parser.append($0) }
            guard case .needMore = parser.next() else { return #expect(Bool(false)) }
            #expect(parser.isBetweenRequests == isBetween)
        }
    }
}
