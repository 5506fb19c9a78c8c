import HTTPEngine
import Testing

@testable import AuthAPI

struct SessionCookieTests {
    @Test(
        arguments: [
            (["postern_session=a"], "a"), (["theme=dark; postern_session=a"], "a"),
            (["theme=\u{600}; postern_session=a"], "a"),
            (["postern_session=a\u{600}; b=c"], "a\u{600}"),
            (["b=c\u{37e}postern_session=a"], nil), (["Postern_session=a"], nil),
            (["postern_session=a", "postern_session=b"], nil), (["postern_session="], nil),
        ] as [([String], String?)])
    func theCookieIsReadByBytes(cookies: [String], token: String?) {
        let request = Request(
            method: .get, target: "/", headers: cookies.map { ("Cookie", $0) })
        let found = SessionCookie(publicURL: "http://localhost:1").token(of: request)
        #expect(found.token == token)
        #expect(found.isCookie == (token != nil))
    }

    @Test(arguments: [
        ("https://auth.mail.test", "__Secure-postern_session"),
        ("http://127.0.0.1:8080", "postern_session"),
    ])
    func theNameIsThatOfASecureCookieWhereThePublicURLIs(url: String, name: String) {
        let cookie = SessionCookie(publicURL: url)
        let request = Request(method: .post, target: "/")
        let attributes = "HttpOnly; Secure; SameSite=Strict; Path=/api/user"
        #expect(cookie.storing("t", for: request).map(\.1) == ["\(name)=t; \(attributes)"])
        #expect(cookie.cleared.map(\.1) == ["\(name)=; Max-Age=0; \(attributes)"])
        for sent in ["postern_session", "__Secure-postern_session"] {
            let request = Request(
                method: .get, target: "/", headers: [("Cookie", "\(sent)=t")])
            #expect(cookie.token(of: request).token == (sent == name ? "t" : nil))
        }
    }
}
