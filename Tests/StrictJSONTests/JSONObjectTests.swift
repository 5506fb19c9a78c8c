import StrictJSON
import Testing

@Suite struct JSONObjectTests {
    private func object(_ text: String) throws -> JSONObject {
        try #require(try JSONValue.parse(Array(text.utf8)).object)
    }

    @Test func nullCountsAsAbsentOnlyWhereThatIsAsked() throws {
        let object = try object(#"{"a":null,"b":0}"#)
        #expect(object["a"] == .null)
        #expect(object.present("a") == nil)
        #expect(object.present("b") == .integer(0))
        #expect(object["c"] == nil)
        #expect(object.present("c") == nil)
    }

    @Test func namesAreComparedOctetByOctet() throws {
        // Swift's == takes the two for equal: é composed, and e with a combining accent.
        let object = try object(#"{"\u00e9":1,"e\u0301":2}"#)
        #expect(object["\u{E9}"] == .integer(1))
        #expect(object["e\u{301}"] == .integer(2))
        #expect(try self.object(#"{"\u212A":1}"#)["K"] == nil)
    }

    @Test func namesAmongManyAreComparedOctetByOctet() throws {
        let many = (0..<20).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(try object(#"{\#(many),"\u00e9":1,"e\u0301":2}"#)["e\u{301}"] == .integer(2))
    }

    @Test func namesDifferByCase() throws {
        #expect(try object(#"{"A":1,"a":2}"#)["a"] == .integer(2))
    }
}
