import StrictJSON
import Testing

@testable import IdentityProviders

/// What is made of the answer to a code (RFC 6749 §5).
struct TokenResponseTests {
    @Test func aBearerTokenIsRead() throws {
        let response = try TokenResponse(
            status: 200,
            Array(#"{"access_token":"a.b-c","token_type":"BEARER","id_token":"i"}"#.utf8))
        #expect(response.accessToken == "a.b-c" && response.idToken == "i")
    }

    /// It would be sent in a header field.
    @Test(arguments: [
        #""access_token":"a","token_type":"mac""#, #""access_token":"a""#,
        #""access_token":"a b","token_type":"bearer""#,
        #""access_token":"a\r\nb: c","token_type":"bearer""#,
        #""access_token":"ä","token_type":"bearer""#,
        #""access_token":"","token_type":"bearer""#,
    ])
    func anotherTokenIsNotSent(members: String) {
        #expect(throws: ProviderError.invalid("the token response has no bearer token")) {
            try TokenResponse(status: 200, Array("{\(members)}".utf8))
        }
    }

    @Test(arguments: [
        ("invalid_grant", "invalid_grant"), ("a b\r\nc\u{1b}[2J", "abc[2J"), ("ä€", "an error"),
        (String(repeating: "x", count: 4_000), String(repeating: "x", count: 64)),
    ])
    func ofAnErrorOnlySomeVisibleCharactersGetIntoTheLog(code: String, shown: String) {
        #expect(throws: ProviderError.invalid("the token endpoint answered \(shown)")) {
            try TokenResponse(status: 400, JSONWriter.object { $0.member("error", code) })
        }
    }
}
