import Testing

@testable import HTTPEngine

@Suite struct RequestTests {
    @Test func segmentsAreSplitBeforeTheyAreDecoded() {
        func segments(_ target: String) -> [String] {
            PathSegments(Request(method: .get, target: target).head)
                .map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(segments("/a/b") == ["a", "b"])
        #expect(segments("/a%2Fb/%C3%A9?x/y") == ["a/b", "é"])
        #expect(segments("/") == [""])
        #expect(segments("/a/") == ["a", ""])
        #expect(segments("http://host:1/x/..") == ["x", ".."])
    }

    @Test func theQueryIsAListInOrder() {
        let request = Request(method: .get, target: "/?a=1&b=2+3&a=%26&c&=d&e==f")
        #expect(request.path == "/")
        #expect(request.query.map(\.name) == ["a", "b", "a", "c", "", "e"])
        #expect(request.query.map(\.value) == ["1", "2 3", "&", "", "d", "=f"])
        #expect(Request(method: .get, target: "/").query.isEmpty)
    }

    @Test func headerNamesAreCaseInsensitiveAndValuesAreKeptApart() {
        let request = Request(
            method: .get, target: "/", headers: [("X-One", "a"), ("x-one", "b"), ("Y", "")])
        #expect(request.headers.first("X-ONE") == "a")
        #expect(request.headers.all("x-One") == ["a", "b"])
        #expect(request.headers.first("y")?.isEmpty == true)
        #expect(request.headers.first("x") == nil)
        #expect(request.headers.contains("Y"))
        #expect(request.headers.count == 3)
        #expect(request.headers.map(\.name) == ["X-One", "x-one", "Y"])
    }

    @Test func formBodiesAreDecoded() throws {
        let pairs = try #require(
            FormCoding.pairs(Array("email=a%40b.test&&password=x%2By+z%zz".utf8)))
        #expect(pairs.map(\.name) == ["email", "password"])
        #expect(pairs.map(\.value) == ["a@b.test", "x+y z%zz"])
    }

    @Test func namesAndValuesOfAFormMayBeEmpty() throws {
        let pairs = try #require(FormCoding.pairs(Array("&=v&n=&m&a=b=c&".utf8)))
        #expect(pairs.map(\.name) == ["", "n", "m", "a"])
        #expect(pairs.map(\.value) == ["v", "", "", "b=c"])
        #expect(FormCoding.pairs(Array("&&".utf8))?.isEmpty == true)
        #expect(FormCoding.pairs([])?.isEmpty == true)
    }

    @Test func aFormHasABoundedNumberOfFields() {
        let form = { Array(repeating: "a=b", count: $0).joined(separator: "&") }
        #expect(FormCoding.pairs(Array(form(100).utf8))?.count == 100)
        #expect(FormCoding.pairs(Array(form(101).utf8)) == nil)
    }

    /// What is compared with names has no marks, which take quadratic time to compare.
    @Test func otherBytesThanASCIIInANameAreReplaced() {
        let pairs = FormCoding.pairs(Array("\u{301}a%CC%81=\u{301}".utf8))
        #expect(pairs?.map(\.name) == ["\u{FFFD}\u{FFFD}a\u{FFFD}\u{FFFD}"])
        #expect(pairs?.map(\.value) == ["\u{301}"])
        let field = FieldText(Array("Json\u{301}".utf8)[...])
        #expect(field.lowercased == "json\u{FFFD}\u{FFFD}")
        #expect(field.text == "Json\u{301}")
    }

    @Test func requestIDsReadAsPrefixAndNumberInHex() {
        #expect(RequestID(prefix: 0xdead_beef, number: 0).description == "deadbeef-0")
        #expect(RequestID(prefix: 1, number: 0x1f0).description == "00000001-1f0")
        #expect(RequestID(prefix: 1, number: .max).bytes.count == RequestID.maxBytes)
    }
}
