import StrictJSON
import TestPrimitives
import Testing

@Suite struct JSONWriterTests {
    private func text(_ fill: (inout JSONWriter) -> Void) -> String {
        String(decoding: JSONWriter.object(fill), as: UTF8.self)
    }

    @Test func membersAreInTheOrderOfTheCalls() {
        let written = text {
            $0.member("difficulty", 6)
            $0.member("pow") {
                $0.member("algorithm", "scrypt")
                $0.member("empty") { _ in }
            }
            $0.member("_next", ["one", "two"])
            $0.member("none", [String]())
            $0.member("ok", true)
            $0.null("cursor")
            $0.array("records") {
                $0.element { $0.member("type", "TXT") }
                $0.element(5)
                $0.element("x")
            }
            $0.member("last", false)
        }
        #expect(
            written
                == #"{"difficulty":6,"pow":{"algorithm":"scrypt","empty":{}},"#
                + #""_next":["one","two"],"none":[],"ok":true,"cursor":null,"#
                + #""records":[{"type":"TXT"},5,"x"],"last":false}"#)
    }

    @Test func aValueThatWasParsedIsWrittenAsTheSameValue() throws {
        let given =
            #"{"a":[null,true,-1,18446744073709551615,0.5,-0.0,1e300,5e-324,"\u0000é\"",{}]}"#
        let parsed = try JSONValue.parse(Array(given.utf8))
        let written = JSONWriter.object { $0.member("v", value: parsed) }
        #expect(try JSONValue.parse(written).object?["v"] == parsed)
        #expect(String(decoding: written, as: UTF8.self).hasPrefix(#"{"v":{"a":[null,true,-1,"#))
    }

    @Test func anEmptyObjectIsTwoBraces() {
        #expect(text { _ in } == "{}")
    }

    @Test(arguments: [
        ("plain", "plain"), ("a\"b\\c", #"a\"b\\c"#), ("\n\r\t", #"\n\r\t"#),
        ("\u{0}\u{1F}", #"\u0000\u001f"#), ("\u{7F}/<é€😀", "\u{7F}/<é€😀"),
    ])
    func onlyWhatMustBeEscapedIsEscaped(raw: String, escaped: String) {
        #expect(text { $0.member("x", raw) } == "{\"x\":\"\(escaped)\"}")
        #expect(text { $0.member(raw, true) } == "{\"\(escaped)\":true}")
    }

    @Test(arguments: [0, 7, 10, -1, 1_763_000_000, Int64.max, Int64.min])
    func integersAreWrittenInFull(value: Int64) {
        #expect(text { $0.member("x", value) } == "{\"x\":\(value)}")
    }

    @Test func anAbsentStringIsNull() {
        let absent: String? = nil
        let present: String? = "v"
        #expect(text { $0.member("x", absent) } == #"{"x":null}"#)
        #expect(text { $0.member("x", present) } == #"{"x":"v"}"#)
    }

    @Test func theReaderReadsWhatTheWriterWrites() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            let scalars = (0..<Int.random(in: 0..<20, using: &generator)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0..<0x11_0000, using: &generator))
            }
            let value = String(String.UnicodeScalarView(scalars))
            let read = try JSONValue.parse(JSONWriter.object { $0.member("x", value) })
            #expect(read.object?["x"]?.string?.unicodeScalars.elementsEqual(scalars) == true)
        }
    }
}
