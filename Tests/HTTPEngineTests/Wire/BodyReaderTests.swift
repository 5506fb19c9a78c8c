import Testing

@testable import HTTPEngine

@Suite struct BodyReaderTests {
    /// Reads `text` byte by byte.
    /// - Returns: the last progress, the body, and how many bytes were read.
    private func read(
        _ text: String, _ framing: RequestHead.Framing, limit: Int
    ) -> (end: String, body: String, used: Int) {
        var reader = BodyReader(
            framing: framing, limit: limit, limits: ParserLimits.standard, keeps: true)
        var start = 0
        let bytes = Array(text.utf8)
        for end in 0...bytes.count {
            let progress = reader.advance(Array(bytes[..<end]), from: &start)
            if case .needMore = progress { continue }
            return ("\(progress)", String(decoding: reader.body, as: UTF8.self), start)
        }
        return ("needMore", String(decoding: reader.body, as: UTF8.self), start)
    }

    @Test func aBodyOfExactlyTheLimitIsAccepted() {
        #expect(read("12345678", .length(5), limit: 5) == ("done", "12345", 5))
        #expect(read("5\r\n12345\r\n0\r\n\r\n!", .chunked, limit: 5) == ("done", "12345", 15))
    }

    @Test func oneByteMoreIsTooLarge() {
        #expect(read("123456", .length(6), limit: 5) == ("tooLarge", "", 0))
        let chunks = read("5\r\n12345\r\n1\r\n6\r\n0\r\n\r\n", .chunked, limit: 5)
        #expect(chunks.end == "tooLarge" && chunks.body == "12345")
    }

    @Test func chunksAreJoinedAndTrailersDropped() {
        let text = "1\r\na\r\n02 ;x=\"y z\"\r\nbc\r\n000\r\nA: b\r\nC:\r\n\r\nGET"
        #expect(read(text, .chunked, limit: 9) == ("done", "abc", text.utf8.count - 3))
    }

    @Test func aRequestWithoutABodyIsComplete() {
        #expect(read("GET", .none, limit: 0) == ("done", "", 0))
    }

    @Test func anIncompleteBodyNeedsMore() {
        #expect(read("1234", .length(5), limit: 5).end == "needMore")
        #expect(read("5\r\n12345\r\n0\r\n", .chunked, limit: 5).end == "needMore")
    }
}
