import HTTPEngine
import Testing

@testable import AuthAPI

struct BodyTypeTests {
    @Test(arguments: [
        ("application/json", "application/json"), ("Application/JSON", "application/json"),
        ("application/json; charset=utf-8", "application/json"),
        (" \tapplication/json ", "application/json"),
        ("application/json \t;charset=utf-8", "application/json"), (";", ""), ("", ""),
        ("app lication/json", "app lication/json"),
        ("application/ json", "application/ json"),
        ("application/json\u{600};q", "application/json\u{FFFD}\u{FFFD}"),
        ("application/json\u{37e}x", "application/json\u{FFFD}\u{FFFD}x"),
    ])
    func parametersAndSurroundingWhiteSpaceAreIgnored(value: String, type: String) {
        let request = Request(method: .post, target: "/", headers: [("Content-Type", value)])
        #expect(request.headers.mediaType == type)
    }

    @Test func everyContentTypeCounts() {
        let request = Request(
            method: .post, target: "/",
            headers: [("Content-Type", "application/json"), ("content-type", "text/plain")])
        #expect(request.headers.mediaTypes == ["application/json", "text/plain"])
        #expect(BodyType.json.mismatch(with: request) == "application/json")
        #expect(BodyType.formOrJSON(isOptional: false).mismatch(with: request) != nil)
        #expect(Request(method: .post, target: "/").headers.mediaType == nil)
    }
}
