import Testing

@testable import HTTPEngine

/// The field `traceparent` of W3C Trace Context.
struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"
    private static let valid = "00-\(trace)-\(parent)-01"

    private func read(_ text: String) -> TraceContext? {
        // Not at the start of the bytes, as in a head.
        TraceContext(Array("xx\(text)".utf8)[2...])
    }

    @Test func theIDsAreThoseThatWereSent() throws {
        let found = try #require(read(Self.valid))
        #expect(found.traceID == Self.trace && found.spanID == Self.parent)
        let small = try #require(
            read("00-\(String(repeating: "0", count: 31))1-0000000000000001-00"))
        #expect(small.traceID == String(repeating: "0", count: 31) + "1")
        #expect(small.spanID == "0000000000000001")
    }

    @Test func laterVersionsMayHaveMore() {
        for text in [
            "01-\(Self.trace)-\(Self.parent)-01", "cc-\(Self.trace)-\(Self.parent)-01-what-ever",
            "fe-\(Self.trace)-\(Self.parent)-01-",
        ] {
            #expect(read(text)?.traceID == Self.trace)
        }
    }

    @Test func everyPrefixIsNone() {
        for count in 0..<Self.valid.utf8.count {
            #expect(read(String(Self.valid.prefix(count))) == nil)
        }
    }

    @Test(arguments: [
        "\(valid)-", "\(valid)0", " \(valid)", "ff-\(trace)-\(parent)-01",
        "00-\(trace.uppercased())-\(parent)-01", "00-\(trace)-\(parent.uppercased())-01",
        "00-\(String(repeating: "0", count: 32))-\(parent)-01", "00-\(trace)-0000000000000000-01",
        "0g-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-0g", "00_\(trace)-\(parent)-01",
        "00-\(trace)_\(parent)-01", "00-\(trace)-\(parent)_01", "00-\(trace)\(parent)--01",
        "cc-\(trace)-\(parent)-01what", "+0-\(trace)-\(parent)-01",
    ])
    func whatIsNotValidIsNone(text: String) {
        #expect(read(text) == nil)
    }

    @Test func aHeadHasOneAtMost() {
        func trace(_ fields: String) -> TraceContext? {
            var parser = RequestParser(limits: .standard)
            Array("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8).withUnsafeBytes {
                parser.append($0)
            }
            guard case .head(let head) = parser.next() else {
                Issue.record("no head")
                return nil
            }
            return head.trace
        }
        #expect(trace("") == nil)
        #expect(trace("TraceParent: \(Self.valid)\r\n")?.spanID == Self.parent)
        #expect(trace("traceparent: x\r\n") == nil)
        #expect(trace("traceparent: \(Self.valid)\r\ntraceparent: \(Self.valid)\r\n") == nil)
        #expect(trace("traceparent: x\r\ntraceparent: \(Self.valid)\r\n") == nil)
    }
}
