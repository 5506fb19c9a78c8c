import HTTPEngine
import Testing

@testable import AuthAPI

struct RequestCredentialsTests {
    @Test(
        arguments: [
            ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER    abc", "abc"),
            ("Bearer a b", "a b"), ("Bearer", nil), ("Bearer ", nil), ("Bearer\tabc", nil),
            ("Bearerabc", nil), ("Basic abc", nil), ("", nil), ("B", nil), ("Bearer\u{e9}", nil),
        ] as [(String, String?)])
    func theTokenIsTheTextAfterTheScheme(value: String, token: String?) {
        #expect(request([("Authorization", value)]).bearerToken == token)
    }

    @Test(
        arguments: [
            ("Basic ZGVtbzpwYXNz", "demo", "pass"), ("bAsIc   ZGVtbzpwYXNz", "demo", "pass"),
            ("Basic ZGVtbzpwOnE=", "demo", "p:q"), ("Basic Og==", "", ""),
            ("Basic ZGVtbw==", nil, nil), ("Basic", nil, nil), ("Basic *", nil, nil),
            ("Bearer ZGVtbzpwYXNz", nil, nil),
        ] as [(String, String?, String?)])
    func basicCredentialsAreDividedAtTheFirstColon(
        value: String, user: String?, password: String?
    ) {
        let found = request([("Authorization", value)]).basicCredentials
        #expect(found?.user == user)
        #expect(found.map { String(decoding: $0.password, as: UTF8.self) } == password)
    }

    @Test func twoAuthorizationFieldsCountAsNone() {
        #expect(
            request([("Authorization", "Bearer a"), ("authorization", "Bearer a")]).bearerToken
                == nil)
        #expect(request([]).bearerToken == nil)
    }

    @Test(
        arguments: [
            ([], nil), (["Bearer"], nil), (["bearer  "], nil), (["Bearer a"], "a"),
            (["Basic a"], ""), (["Bearer a", "Bearer a"], ""), (["Bearer\ta"], ""), ([""], ""),
        ] as [([String], String?)])
    func anAuthorizationThatIsNotABearerTokenIsInvalidAndNotAbsent(
        values: [String], token: String?
    ) {
        #expect(request(values.map { ("Authorization", $0) }).presentedToken == token)
    }

    @Test(
        arguments: [
            ([], false), ([("Sec-Fetch-Site", "same-origin")], false),
            ([("Sec-Fetch-Site", "none")], false), ([("Sec-Fetch-Site", "same-site")], true),
            ([("Sec-Fetch-Site", "cross-site")], true), ([("Sec-Fetch-Site", "")], true),
            ([("Sec-Fetch-Site", "Same-Origin")], true), ([("Sec-Fetch-Site", "None")], true),
            ([("Origin", "https://auth.mail.test")], false),
            ([("Origin", "HTTP://Auth.Mail.Test")], false), ([("Origin", "null")], true),
            ([("Origin", "https://auth.mail.test.evil.test")], true),
            ([("Origin", "https://auth.mail.test"), ("Origin", "https://evil.test")], true),
        ] as [([(String, String)], Bool)])
    func aRequestIsCrossOriginWhenTheBrowserSaysSo(
        headers: [(String, String)], isCrossOrigin: Bool
    ) {
        for (method, isWrite) in [(HTTPEngine.Method.post, true), (.get, false), (.head, false)] {
            let request = Request(
                method: method, target: "/", headers: [("Host", "auth.mail.test")] + headers)
            #expect(request.isCrossOrigin == isCrossOrigin)
            #expect(request.isCrossOriginWrite == (isCrossOrigin && isWrite))
        }
    }

    @Test func anOriginWithoutAHostIsAnother() {
        #expect(request([("Origin", "https://auth.mail.test")]).isCrossOrigin)
    }

    private func request(_ headers: [(String, String)]) -> Request {
        Request(method: .get, target: "/", headers: headers)
    }
}
