import StrictJSON
import TestPrimitives
import Testing

@Suite struct JSONErrorTests {
    private func error(_ bytes: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            _ = try JSONValue.parse(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("", .empty, 0), (" \n", .empty, 2), ("\u{FEFF}{}", .byteOrderMark, 0),
            ("x", .unexpectedByte, 0), ("nul", .unexpectedEnd, 3), ("nulL", .unexpectedByte, 3),
            ("True", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0),
            ("Infinity", .unexpectedByte, 0),
            ("-Infinity", .invalidNumber, 0), ("'a'", .unexpectedByte, 0),
            ("\u{A0}1", .unexpectedByte, 0), ("\u{C}1", .unexpectedByte, 0),
            ("// c\n1", .unexpectedByte, 0), ("1 /* c */", .trailingBytes, 2),
            ("{} {}", .trailingBytes, 3), ("1 2", .trailingBytes, 2), ("{}\0", .trailingBytes, 2),
            ("]", .unexpectedByte, 0), ("{}}", .trailingBytes, 2), ("truefalse", .trailingBytes, 4),
        ] as [(String, JSONError.Cause, Int)])
    func textsThatAreNotOneValue(text: String, cause: JSONError.Cause, offset: Int) {
        #expect(error(Array(text.utf8)) == JSONError(offset: offset, cause: cause))
    }

    @Test(arguments: [
        "01", "-01", "00", "1.", "1.e1", ".5", "+1", "-", "1e", "1e+", "0x10", "1_000", "--1", "-a",
        "1.5.5", "1e5e5", "0b1", "1,5", "１", "1e0.5", "-.5", "1 000", "2.e3", "0e", "1eE2",
    ])
    func numbersThatJSONDoesNotWrite(text: String) {
        #expect(error(Array(text.utf8)) != nil)
        #expect(error(Array("[\(text)]".utf8)) != nil || text == "1,5")
        #expect(error(Array(#"{"a":\#(text)}"#.utf8)) != nil)
    }

    @Test(arguments: ["1e400", "-1e400", "1e99999999999999999999", "[1.8e308]"])
    func numbersThatAreNotFinite(text: String) {
        #expect(error(Array(text.utf8))?.cause == .numberOutOfRange)
    }

    @Test(arguments: [
        "[1,]", "[,1]", "[1 2]", "[", "[1", "[1,", "[}", "[1}", "{", "{\"a\"", "{\"a\":",
        "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}", "{1:1}", "{\"a\" 1}",
        "{\"a\":}", "{\"a\",\"b\"}", "{\"a\":1]", "{null:1}", "[\"a\":1]", "{\"a\":1 \"b\":2}",
        "{\"a\"::1}", "[[]", "{\"a\":1,,\"b\":2}",
    ])
    func bracketsCommasAndColonsOutOfPlace(text: String) {
        #expect(error(Array(text.utf8)) != nil)
    }

    @Test(arguments: [
        (#"{"a":1,"a":2}"#, 7), (#"{"a":1,"\u0061":1}"#, 7), (#"{"":1,"":1}"#, 6),
        (#"{"x":{"k":1,"k":1}}"#, 12), (#"[{"é":1,"\u00e9":1}]"#, 9),
    ])
    func aNameTwiceInOneObject(text: String, offset: Int) {
        let expected = JSONError(offset: offset, cause: .duplicateName)
        #expect(error(Array(text.utf8)) == expected)
    }

    @Test func aNameTwiceAmongMany() {
        let members = (0..<300).map { "\"k\($0)\":0" }
        for twice in [0, 7, 8, 9, 150, 299] {
            let text = "{" + (members + ["\"k\(twice)\":1"]).joined(separator: ",") + "}"
            #expect(error(Array(text.utf8))?.cause == .duplicateName)
        }
        #expect(error(Array("{\(members.joined(separator: ","))}".utf8)) == nil)
    }

    @Test(
        arguments: [
            ("\"", .unexpectedEnd), ("\"a", .unexpectedEnd), ("\"\\", .unexpectedEnd),
            ("\"\\u00", .unexpectedEnd), ("\"\\\"", .unexpectedEnd),
            ("\"\n\"", .controlCharacter), ("\"\0\"", .controlCharacter),
            ("\"\\n\t\"", .controlCharacter),
            ("\"\\x41\"", .invalidEscape), ("\"\\'\"", .invalidEscape),
            ("\"\\u00g0\"", .invalidEscape),
            ("\"\\U0041\"", .invalidEscape), ("\"\\u+041\"", .invalidEscape),
            ("\"\\ \"", .invalidEscape),
            ("\"\\ud800\"", .loneSurrogate), ("\"\\udc00\"", .loneSurrogate),
            ("\"\\ud800\\u0041\"", .loneSurrogate), ("\"\\ud800\\ud800\"", .loneSurrogate),
            ("\"\\udc00\\ud800\"", .loneSurrogate), ("\"\\ud83dx\"", .loneSurrogate),
            ("\"\\ud83d\\n\"", .loneSurrogate),
        ] as [(String, JSONError.Cause)])
    func stringsThatAreNotWellFormed(text: String, cause: JSONError.Cause) {
        #expect(error(Array(text.utf8))?.cause == cause)
    }

    @Test(
        arguments: [
            [0x80], [0xFF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0xAF], [0xF4, 0x90, 0x80, 0x80], [0xC3],
            [0xE2, 0x82], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xC3, 0x28],
        ] as [[UInt8]])
    func bytesThatAreNotUTF8(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        let invalid = JSONError(offset: 0, cause: .invalidUTF8)
        #expect(error([quote] + bytes + [quote]) == invalid)
        #expect(error([quote] + Array("\\n".utf8) + bytes + [quote]) == invalid)
        #expect(error(bytes) != nil)
    }

    @Test func theTextForTheClientHasThePositionAndNothingOfTheInput() {
        let error = self.error(Array(#"{"secret":1,"secret":2}"#.utf8))
        #expect(error?.description == "a member name occurs twice in one object (at byte 12)")
    }

    @Test func arbitraryBytesNeverTrap() {
        var generator = SeededGenerator(seed: 8259)
        let pieces =
            [
                "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "\\ude00", "0", "1", "-",
                ".",
                "e", "+", "true", "false", "null", " ", "\n", "a", "é", "\u{FEFF}", "\0",
            ].map { Array($0.utf8) } + [[0x80], [0xFF], [0xED, 0xA0]]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0..<24, using: &generator)).flatMap { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }
            if let error = self.error(text) { #expect((0...text.count).contains(error.offset)) }
        }
    }

    @Test func changedBytesOfAValidTextNeverTrap() {
        let valid = Array(#"{"aud":["a","b"],"exp":1763000000,"x":{"y":-1.5e3,"z":"\u00e9"}}"#.utf8)
        var generator = SeededGenerator(seed: 7159)
        for _ in 0..<20_000 {
            var text = valid
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                text[Int.random(in: 0..<text.count, using: &generator)] =
                    .random(in: 0...255, using: &generator)
            }
            if let error = self.error(text) { #expect((0...text.count).contains(error.offset)) }
        }
    }
}
