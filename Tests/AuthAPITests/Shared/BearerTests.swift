import HTTPEngine
import Testing

@testable import AuthAPI

struct BearerTests {
    @Test(
        arguments: [
            ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER    abc", "abc"),
            ("Bearer a b", "a b"), ("Bearer", nil), ("Bearer ", nil), ("Bearer\tabc", nil),
            ("Bearerabc", nil), ("Basic abc", nil), ("", nil), ("B", nil), ("Bearer\u{e9}", nil),
        ] as [(String, String?)])
    func theTokenIsWhatFollowsTheScheme(value: String, token: String?) {
        #expect(request([("Authorization", value)]).bearerToken == token)
    }

    @Test func twoAreAsGoodAsNone() {
        #expect(
            request([("Authorization", "Bearer a"), ("authorization", "Bearer a")]).bearerToken
                == nil)
        #expect(request([]).bearerToken == nil)
    }

    private func request(_ headers: [(String, String)]) -> Request {
        Request(method: .get, target: "/", headers: headers)
    }
}
