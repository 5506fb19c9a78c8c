import Testing

@testable import HTTPEngine

/// Requests that two implementations could read differently, or that no client sends.
@Suite struct ParseErrorTests {
    static let heads: [(String, ParseError)] = [
        ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .badVersion),
        ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /\r\nHost: a\r\n\r\n", .badVersion),
        ("GET / http/1.1\r\nHost: a\r\n\r\n", .badVersion),
        ("GET / HTTP/11\r\nHost: a\r\n\r\n", .badVersion),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", .unsupportedVersion),
        ("GET / HTTP/0.9\r\nHost: a\r\n\r\n", .unsupportedVersion),
        ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", .unsupportedMethod),
        ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET a/b HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET http://u@a/x HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /# HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /?%4 HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET / HTTP/1.1\nHost: a\r\n\r\n", .badLineEnd),
        ("GET / HTTP/1.1\r\nHost: a\n\r\n", .badLineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", .badLineEnd),
        ("GET / HTTP/1.1\r\nHost: a\rX: y\r\n\r\n", .badFieldValue),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", .badFieldValue),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", .badFieldValue),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\u{7f}\r\n\r\n", .badFieldValue),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", .foldedField),
        ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", .foldedField),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", .badFieldLine),
        ("GET / HTTP/1.1\r\nHost\r\n\r\n", .badFieldLine),
        ("GET / HTTP/1.1\r\n: a\r\n\r\n", .badFieldName),
        ("GET / HTTP/1.1\r\nH\0st: a\r\n\r\n", .badFieldName),
        ("GET / HTTP/1.1\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a:8o\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-maybe\r\n\r\n", .unknownExpectation),
    ]

    /// The group of the path renders the error, as far as there is a path.
    @Test(arguments: [
        ("GET /api/{ HTTP/1.1\r\n", "GET /api/{"), ("GET /api/%00?x HTTP/1.1\r\n", "GET /api/%00"),
        ("PUT /api/a b HTTP/1.1\r\n", "PUT /api/a"), ("GET /api\r\n", "GET /api"),
        ("GET /api HTTP/3.0\r\n", "GET /api"), ("GET /api HTTP/1.1\n", "GET /api"),
        ("GET http://a/api/{ HTTP/1.1\r\n", "GET /api/{"), ("GET http://a HTTP/1.x\r\n", "GET "),
        ("GET /api\n", "GET /api"), ("GET /long#long HTTP/1.1\r\n", "GET /long"),
        ("GET /" + String(repeating: "x", count: 100), "GET /" + String(repeating: "x", count: 77)),
        ("GET  /api HTTP/1.1\r\n", "GET "), ("G(T /api HTTP/1.1\r\n", "- -"),
        (" /api HTTP/1.1\r\n", "- -"), (String(repeating: "x", count: 100) + " /api", "- -"),
        ("GET /api HTTP/1.1\r\nHost : a\r\n", "GET /api"),
    ])
    func anErrorComesWithTheHeadAsFarAsItWasRead(text: String, read: String) {
        var limits = ParserLimits.standard
        limits.requestLineBytes = 80
        let lines = transcript(of: text, limits: limits)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("invalid ") == true)
        #expect(lines.first?.hasSuffix(" " + read) == true)
    }

    @Test(arguments: heads)
    func anInvalidHeadIsNotAccepted(text: String, error: ParseError) {
        expectError(text, error)
    }

    static let lengths: [(String, ParseError)] = [
        ("Content-Length: 1\r\nContent-Length: 1", .badContentLength),
        ("Content-Length: 1\r\nContent-Length: 2", .badContentLength),
        ("Content-Length: 1, 1", .badContentLength),
        ("Content-Length: +5", .badContentLength),
        ("Content-Length: -5", .badContentLength),
        ("Content-Length: 0x5", .badContentLength),
        ("Content-Length: 5 5", .badContentLength),
        ("Content-Length: 5.0", .badContentLength),
        ("Content-Length:", .badContentLength),
        ("Content-Length: \u{661}", .badContentLength),
        ("Content-Length: 18446744073709551621", .badContentLength),
        ("Content-Length: 9223372036854775808", .badContentLength),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", .badTransferEncoding),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", .badTransferEncoding),
        ("Transfer-Encoding: chunked, chunked", .badTransferEncoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .badTransferEncoding),
        ("Transfer-Encoding: chunked, gzip", .badTransferEncoding),
        ("Transfer-Encoding: chunked,", .badTransferEncoding),
        ("Transfer-Encoding:", .badTransferEncoding),
        ("Transfer-Encoding: \"chunked\"", .badTransferEncoding),
        ("Transfer-Encoding: chunked;q=1", .badTransferEncoding),
        ("Transfer-Encoding: \u{b}chunked", .badFieldValue),
        ("Transfer-Encoding: gzip", .unknownTransferCoding),
        ("Transfer-Encoding: gzip, chunked", .unknownTransferCoding),
        ("Transfer-Encoding: xchunked", .unknownTransferCoding),
        ("Transfer-Encoding: identity", .unknownTransferCoding),
    ]

    @Test(arguments: lengths)
    func anAmbiguousFramingIsNotAccepted(fields: String, error: ParseError) {
        expectError("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n0\r\n\r\n", error)
    }

    @Test func transferEncodingInHTTP10IsNotAccepted() {
        expectError(
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .badTransferEncoding)
    }

    static let chunks: [(String, ParseError)] = [
        ("\r\n", .badChunk), ("x\r\n", .badChunk), ("+1\r\na\r\n", .badChunk),
        ("-1\r\n", .badChunk), ("0x1\r\na\r\n", .badChunk), ("1 \r\na\r\n", .badChunk),
        (" 1\r\na\r\n", .badChunk), ("1\na\r\n", .badChunk), ("1\r\nab\r\n", .badChunk),
        ("1\r\na\n", .badChunk), ("1\r\na\rb", .badChunk), ("1 x\r\na\r\n", .badChunk),
        ("1;a\0\r\na\r\n", .badChunk), ("1;a\rb\r\na\r\n", .badChunk),
        ("0000000000000001\r\na\r\n", .badChunk),
        ("ffffffffffffffff\r\n", .badChunk),
        ("1;\(String(repeating: "x", count: 1_100))\r\na\r\n", .badChunk),
        (
            String(repeating: "1;\(String(repeating: "x", count: 400))\r\na\r\n", count: 3),
            .badChunk
        ),
        ("0\r\nbad trailer\r\n\r\n", .badTrailer), ("0\r\nA: b\n\r\n", .badTrailer),
        ("0\r\n folded: x\r\n\r\n", .badTrailer),
        ("0\r\nA: \(String(repeating: "x", count: 9_000))\r\n\r\n", .badTrailer),
        ("0\r\n\(String(repeating: "A: xxxxxxxxxx\r\n", count: 700))\r\n", .badTrailer),
    ]

    @Test(arguments: chunks)
    func anInvalidChunkedBodyIsNotAccepted(body: String, error: ParseError) {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        expectError(head + body, error)
    }

    @Test(arguments: ["7ff\r\n", "fffffffffffffff\r\n"])
    func aChunkLargerThanTheLimitIsTooLargeBeforeItArrives(size: String) {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(transcript(of: head + size).last == "too large")
    }

    @Test func everyLimitIsExact() {
        var limits = ParserLimits.standard
        limits.requestLineBytes = 20
        limits.headBytes = 60
        limits.headerCount = 2
        let line = "GET /234567 HTTP/1.1\r\n"
        #expect(transcript(of: line + "Host: a\r\n\r\n", limits: limits).count == 2)
        expectError("GET /2345678 HTTP/1.1\r\nHost: a\r\n\r\n", .requestLineTooLong, limits)
        expectError("GET /23456789012345678901", .requestLineTooLong, limits)
        let filler = String(repeating: "x", count: 60 - 22 - 9 - 7)
        #expect(transcript(of: line + "Host: a\r\nX: \(filler)\r\n\r\n", limits: limits).count == 2)
        expectError(line + "Host: a\r\nX: \(filler)y\r\n\r\n", .headTooLarge, limits)
        expectError(line + String(repeating: "x", count: 60), .headTooLarge, limits)
        limits.headBytes = 1_000
        expectError(line + "Host: a\r\nA: b\r\nC: d\r\n\r\n", .tooManyFields, limits)
    }

    @Test func everyParseErrorHasTheStatusOfTheRFC() {
        #expect(ParseError.requestLineTooLong.status == .uriTooLong)
        #expect(ParseError.headTooLarge.status == .requestHeaderFieldsTooLarge)
        #expect(ParseError.tooManyFields.status == .requestHeaderFieldsTooLarge)
        #expect(ParseError.unknownTransferCoding.status == .notImplemented)
        #expect(ParseError.unsupportedVersion.status == .httpVersionNotSupported)
        #expect(ParseError.unknownExpectation.status == .expectationFailed)
        #expect(ParseError.badContentLength.status == .badRequest)
    }

    /// Checks the error, at once and byte by byte.
    private func expectError(
        _ text: String, _ error: ParseError, _ limits: ParserLimits = ParserLimits.standard
    ) {
        let bytes = Array(text.utf8)
        let lines = transcript(of: bytes, pieces: [], limits: limits)
        #expect(lines.last?.hasPrefix("invalid \(error) ") == true, "\(lines)")
        let ones = Array(repeating: 1, count: bytes.count)
        #expect(transcript(of: bytes, pieces: ones, limits: limits) == lines)
    }
}
