import Testing

@testable import HTTPEngine

@Suite struct ResponseEncoderTests {
    private func encode(
        _ response: Response, isHead: Bool = false, minorVersion: UInt8 = 1,
        keepsAlive: Bool = true, common: [CommonField] = []
    ) throws -> String {
        var buffer: [UInt8] = []
        let frame = ResponseEncoder.Frame(
            id: RequestID(prefix: 0xab, number: 18), date: Array("today".utf8), isHead: isHead,
            minorVersion: minorVersion, keepsAlive: keepsAlive, common: common)
        let bytes = try ResponseEncoder.encode(response, frame, into: &buffer)
        #expect(bytes == buffer.count)
        return String(decoding: buffer, as: UTF8.self)
    }

    @Test func aResponseIsAStatusLineFieldsAndABody() throws {
        let text = try encode(Response(status: .ok, headers: [("A", "b")], body: [0x68, 0x69]))
        #expect(
            text == "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\nDate: today\r\n"
                + "X-Request-Id: 000000ab-12\r\n\r\nhi")
    }

    @Test func aCommonFieldIsInEveryResponseThatDoesNotHaveIt() throws {
        let common = [CommonField("X-A", "1"), CommonField("X-B", "2")]
        let text = try encode(
            Response(status: .noContent, headers: [("x-a", "own")]), common: common)
        #expect(text.contains("x-a: own\r\n") && text.contains("X-B: 2\r\n"))
        #expect(!text.contains("X-A: 1"))
    }

    @Test func theResponseToHEADHasTheLengthAndNotTheBody() throws {
        let text = try encode(Response(status: .ok, body: [1, 2, 3]), isHead: true)
        #expect(text.contains("Content-Length: 3\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [Status.noContent, .notModified])
    func aStatusWithoutContentHasNone(status: Status) throws {
        let text = try encode(Response(status: status, body: [1]))
        #expect(!text.contains("Content-Length"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test func theConnectionFieldIsThatOfTheVersion() throws {
        #expect(try !encode(Response(status: .ok)).contains("Connection"))
        #expect(try encode(Response(status: .ok), keepsAlive: false).contains("Connection: close"))
        #expect(
            try encode(Response(status: .ok), minorVersion: 0).contains("Connection: keep-alive"))
    }

    @Test(arguments: ["content-length", "Transfer-Encoding", "DATE", "Connection", "x-request-id"])
    func framingHeadersOfAHandlerAreDropped(name: String) throws {
        let text = try encode(Response(status: .ok, headers: [(name, "evil")]))
        #expect(!text.contains("evil"))
    }

    @Test(arguments: [
        ("X", "a\r\nSet-Cookie: b"), ("X", "a\nb"), ("X", "a\rb"), ("X", "a\0"), ("X", "\u{7f}"),
        ("X\r\nY", "a"), ("X Y", "a"), ("", "a"), ("X:", "a"), ("\u{e9}", "a"),
    ])
    func anInvalidHeaderIsNotWritten(name: String, value: String) {
        #expect(throws: InvalidHeader.self) {
            try encode(Response(status: .ok, headers: [("Ok", "1"), (name, value)]))
        }
    }

    @Test func anInvalidResponseLeavesTheBufferUnchanged() {
        var buffer: [UInt8] = [7]
        let frame = ResponseEncoder.Frame(
            id: RequestID(prefix: 0, number: 0), date: [], isHead: false, minorVersion: 1,
            keepsAlive: true)
        let response = Response(status: .ok, headers: [("A", "b"), ("X", "\n")])
        _ = try? ResponseEncoder.encode(response, frame, into: &buffer)
        #expect(buffer == [7])
    }

    @Test func codesWithoutAReasonPhraseHaveAnEmptyOne() throws {
        #expect(try encode(Response(status: Status(code: 299))).hasPrefix("HTTP/1.1 299 \r\n"))
    }
}
