import AuthCore
import Cryptography
import StrictJSON
import Testing

@testable import AgentClient

/// A token with these claims. Clients do not verify its signature.
func token(_ claims: String) -> String {
    "e30.\(Base64URL.encode(Array(claims.utf8))).c2ln"
}

@Suite struct ServerChallengeTests {
    private static let claims = """
        {"jti":"abc","difficulty":6,"salt":"00ff","iat":1000,"exp":1180}
        """

    private func object(_ text: String) throws -> JSONObject {
        try #require(try JSONValue.parse(Array(text.utf8)).object)
    }

    @Test func theTokenContainsTheWork() throws {
        let challenge = try ServerChallenge(token: token(Self.claims))
        #expect(challenge.assignment.id == "abc")
        #expect(challenge.assignment.difficulty == 6)
        #expect(challenge.assignment.expectedTries == 64)
        #expect(challenge.lifetime == .seconds(180))
        let published = try Scrypt.Parameters(n: 16_384, r: 8, p: 1, outputBytes: 64)
        #expect(challenge.assignment.puzzle == .scrypt(parameters: published, salt: "00ff"))
    }

    @Test func theBodyMayNameOtherParametersAndTheCallerAnotherSalt() throws {
        let pow = try object(#"{"algorithm":"scrypt","N":1024,"r":4,"p":2,"dkLen":64}"#)
        let challenge = try ServerChallenge(token: token(Self.claims), pow: pow, salt: "aa")
        let parameters = try Scrypt.Parameters(n: 1024, r: 4, p: 2, outputBytes: 64)
        #expect(challenge.assignment.puzzle == .scrypt(parameters: parameters, salt: "aa"))
    }

    @Test(arguments: [
        #"{"N":1073741824}"#, #"{"N":1000}"#, #"{"N":0}"#, #"{"N":-2}"#, #"{"N":1.5}"#,
        #"{"N":"16384"}"#, #"{"r":1000000}"#, #"{"r":0}"#, #"{"p":16}"#, #"{"p":0}"#,
        #"{"dkLen":32}"#, #"{"dkLen":1000000}"#, #"{"algorithm":"argon2id"}"#,
        #"{"N":9223372036854775807,"r":9223372036854775807}"#,
    ])
    func parametersBeyondTheBoundsAreErrors(text: String) throws {
        let pow = try object(text)
        #expect(throws: ChallengeError.self) {
            _ = try ServerChallenge(token: token(Self.claims), pow: pow)
        }
    }

    @Test(arguments: [
        "", "abc", "a.b", "a.b.c.d", "e30.e30", "e30.***.c2ln", "e30..c2ln",
        token("[]"), token("{}"), token(#"{"jti":"a","difficulty":6}"#),
        token(#"{"jti":"","difficulty":6,"salt":"0"}"#),
        token(#"{"jti":"a","difficulty":25,"salt":"0"}"#),
        token(#"{"jti":"a","difficulty":-1,"salt":"0"}"#),
        token(#"{"jti":"a","difficulty":9223372036854775807,"salt":"0"}"#),
        token(#"{"jti":"a","difficulty":"6","salt":"0"}"#),
        token(#"{"jti":"a","difficulty":6,"salt":7}"#), String(repeating: "a", count: 10_000),
    ])
    func anUnusableChallengeIsAnError(text: String) {
        #expect(throws: ChallengeError.self) { _ = try ServerChallenge(token: text) }
    }

    @Test(arguments: [
        (#""iat":0,"exp":9223372036854775807"#, 86_400), (#""iat":10,"exp":5"#, 1),
        (#""iat":-9223372036854775808,"exp":1"#, 180), (#""exp":1.5"#, 180),
    ])
    func aLifetimeIsBounded(members: String, seconds: Int) throws {
        let claims = #"{"jti":"a","difficulty":6,"salt":"0",\#(members)}"#
        #expect(try ServerChallenge(token: token(claims)).lifetime == .seconds(seconds))
    }
}
