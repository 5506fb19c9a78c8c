import StrictJSON
import Testing

@Suite struct JSONValueTests {
    private func parse(_ text: String) throws -> JSONValue {
        try JSONValue.parse(Array(text.utf8))
    }

    @Test func everyKindOfValueIsRead() throws {
        let value = try parse(
            #" { "n" : null , "t":true,"f":false,"i":-12,"d":1.5,"s":"x","a":[1,[],{}]} "#)
        let object = try #require(value.object)
        #expect(object.members.map(\.name) == ["n", "t", "f", "i", "d", "s", "a"])
        #expect(object["n"] == .null)
        #expect(object["t"]?.bool == true)
        #expect(object["f"]?.bool == false)
        #expect(object["i"]?.integer == -12)
        #expect(object["d"] == .number(1.5))
        #expect(object["s"]?.string == "x")
        #expect(object["a"]?.array?.count == 3)
    }

    @Test(arguments: ["null", "true", "0", "\"\"", "[]", "{}", " \t\r\n1 \t\r\n"])
    func anyValueMayBeOutermost(text: String) throws {
        _ = try parse(text)
    }

    @Test func accessorsOfAnotherKindAreNil() throws {
        let value = try parse("1.0")
        #expect(value.integer == nil)
        #expect(value.string == nil)
        #expect(value.bool == nil)
        #expect(value.array == nil)
        #expect(value.object == nil)
    }

    @Test(arguments: [
        ("0", 0), ("-0", 0), ("7", 7), ("-10", -10), ("9223372036854775807", Int64.max),
        ("-9223372036854775808", Int64.min),
    ])
    func integersAreTheFormsWithoutFractionOrExponent(text: String, value: Int64) throws {
        #expect(try parse(text) == .integer(value))
    }

    @Test(arguments: [
        ("1.0", 1.0), ("1e3", 1000), ("1E+2", 100), ("1e-2", 0.01), ("-0.0", -0.0),
        ("18446744073709551616", 18_446_744_073_709_551_616), ("0e1", 0), ("1e-400", 0),
        ("1.7976931348623157e308", Double.greatestFiniteMagnitude),
    ])
    func everyOtherNumberIsNotAnInteger(text: String, value: Double) throws {
        #expect(try parse(text) == .number(value))
    }

    @Test func wholeNumbersBeyondTheSignedOnesAreUnsigned() throws {
        #expect(try parse("9223372036854775808") == .unsigned(9_223_372_036_854_775_808))
        #expect(try parse("18446744073709551615") == .unsigned(.max))
        #expect(try parse("18446744073709551615").integer == nil)
    }

    @Test(arguments: [
        ("\"\"", ""), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""\ud83d\ude00x""#, "😀x"), (#""\u0000""#, "\0"),
        ("\"é€😀\u{7F}\u{2028}\"", "é€😀\u{7F}\u{2028}"), (#""\uFFFF\uFEFF""#, "\u{FFFF}\u{FEFF}"),
        (#""a\\u0041""#, "a\\u0041"),
    ])
    func stringsAreUnescaped(text: String, value: String) throws {
        #expect(try parse(text).string.map { Array($0.utf8) } == Array(value.utf8))
    }

    @Test func nestingOfThirtyTwoIsReadAndOfThirtyThreeIsNot() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + String(repeating: close, count: depth)
        }
        _ = try parse(nested(32, "[", "]"))
        _ = try parse(
            String(repeating: #"{"a":"#, count: 32) + "1" + String(repeating: "}", count: 32))
        _ = try parse("[" + nested(31, "[", "]") + "," + nested(31, "[", "]") + "]")
        for text in [
            nested(33, "[", "]"), String(repeating: "[", count: 60_000),
            String(repeating: #"{"a":"#, count: 33) + "1" + String(repeating: "}", count: 33),
        ] {
            #expect { try parse(text) } throws: { ($0 as? JSONError)?.cause == .tooDeep }
        }
    }

    /// U+0F73 has no combining class of its own, but those that it decomposes into have.
    @Test(arguments: ["\u{301}", "\u{f73}", "\u{1d165}", "\u{20dd}"])
    func aStringHasABoundedNumberOfMarksInARow(mark: String) throws {
        let marks = String(repeating: mark, count: 30)
        for text in ["[\"\(marks)a\(marks)\"]", "{\"é\(marks)\":1}"] { _ = try parse(text) }
        for text in ["[\"a\(marks)\(mark)\"]", "{\"\(marks)\(mark)\":1}"] {
            #expect { try parse(text) } throws: { ($0 as? JSONError)?.cause == .tooManyMarks }
            _ = try JSONValue.parse(Array(text.utf8), boundsMarks: false)
        }
        let escapes = String(repeating: #"\u0301"#, count: 31)
        #expect(throws: JSONError.self) { try parse("[\"\(escapes)\"]") }
    }

    @Test func everyPrefixOfAValueIsAnError() throws {
        let text = Array(#"{"a":[1.5e-3,true,null,"é\ud83d\ude00\n"],"b":{"c":-7,"d":false}}"#.utf8)
        _ = try JSONValue.parse(text)
        for count in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONValue.parse(Array(text.prefix(count))) }
        }
    }

    @Test func aBodyFullOfMembersIsReadInLinearTime() throws {
        let clock = ContinuousClock()
        func body(_ count: Int) -> [UInt8] {
            JSONWriter.object { for index in 0..<count { $0.member("k\(index)", index) } }
        }
        func best(_ body: [UInt8]) throws -> Duration {
            try (0..<3).map { _ in try clock.measure { _ = try JSONValue.parse(body) } }.min()
                ?? .zero
        }
        // Eight times the members would take 64 times as long if each was compared with all others.
        let (few, many) = (body(500), body(4_000))
        #expect(try JSONValue.parse(many).object?.members.count == 4_000)
        // Load on the machine can make a fast reader look slow, but not a slow one fast.
        #expect(try (0..<20).contains { _ in try best(many) < best(few) * 32 })
    }
}

@Suite struct JSONObjectTests {
    private func object(_ text: String) throws -> JSONObject {
        try #require(try JSONValue.parse(Array(text.utf8)).object)
    }

    @Test func nullIsAbsentOnlyForPresent() throws {
        let object = try object(#"{"a":null,"b":0}"#)
        #expect(object["a"] == .null)
        #expect(object.present("a") == nil)
        #expect(object.present("b") == .integer(0))
        #expect(object["c"] == nil)
        #expect(object.present("c") == nil)
    }

    @Test func namesAreComparedByteByByte() throws {
        // Equal by Swift's ==: é composed, and e with a combining accent.
        let object = try object(#"{"\u00e9":1,"e\u0301":2}"#)
        #expect(object["\u{E9}"] == .integer(1))
        #expect(object["e\u{301}"] == .integer(2))
        #expect(try self.object(#"{"\u212A":1}"#)["K"] == nil)
    }

    @Test func namesAmongManyAreComparedByteByByte() throws {
        let many = (0..<20).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(try object(#"{\#(many),"\u00e9":1,"e\u0301":2}"#)["e\u{301}"] == .integer(2))
    }

    @Test func namesDifferByCase() throws {
        #expect(try object(#"{"A":1,"a":2}"#)["a"] == .integer(2))
    }
}
