import Cryptography
import StrictJSON
import TestSupport
import Testing

@testable import IdentityProviders

/// What an ID token must be (OpenID Connect Core §3.1.3.7). Each fault is the only one.
struct IDTokenTests {
    private static let now: Int64 = 1_700_000_000
    private let provider: SoftProvider
    private let key: PrivateKey
    private let person = SoftProvider.Person("subject", "ada@example.com")

    init() throws {
        key = try PrivateKey.generate(.es256)
        provider = try SoftProvider(key: key) { Self.now }
    }

    private func keySet(_ keys: (String?, PrivateKey)...) throws -> KeySet {
        try KeySet(
            JSONWriter.object { body in
                body.array("keys") { list in
                    for (id, key) in keys {
                        list.element { member in
                            if let id { member.member("kid", id) }
                            SoftProvider.write(key.publicKey.parameters, to: &member)
                        }
                    }
                }
            })
    }

    private func verify(
        _ text: String, by set: KeySet? = nil
    ) throws(ProviderError) -> ProviderIdentity {
        let keys: KeySet
        do {
            keys = try set ?? keySet(("k1", key))
        } catch {
            throw .invalid("test")
        }
        return try IDToken(text).verified(
            by: keys,
            IDToken.Expectation(
                issuer: SoftProvider.issuer, clientID: SoftProvider.clientID, nonce: "n",
                now: Self.now))
    }

    private func problem(_ text: String, by set: KeySet? = nil) -> String? {
        do throws(ProviderError) {
            _ = try verify(text, by: set)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func aTokenOfEachAlgorithmIsAccepted(algorithm: SignatureAlgorithm) throws {
        let key = try PrivateKey.generate(algorithm)
        let provider = try SoftProvider(key: key) { Self.now }
        let identity = try verify(
            provider.idToken(person, nonce: "n"), by: keySet(("k1", key)))
        #expect(
            identity
                == ProviderIdentity(
                    subject: "subject", email: "ada@example.com", isEmailVerified: true))
    }

    @Test(
        arguments: [
            ("iss", .string("https://other.test"), "issuer"),
            ("iss", .string("https://id.test/"), "issuer"), ("iss", .null, "issuer"),
            ("iss", .array([.string("https://id.test")]), "issuer"),
            ("aud", .string("other"), "another client"), ("aud", .null, "another client"),
            ("aud", .array([]), "another client"),
            ("aud", .array([.string("client-1"), .string("other")]), "given to another client"),
            ("azp", .string("other"), "given to another client"),
            ("azp", .integer(1), "given to another client"),
            ("exp", .integer(now - 61), "expired"), ("exp", .null, "expired"),
            ("exp", .string("9999999999"), "expired"), ("exp", .integer(.max), "expired"),
            ("exp", .integer(.min), "expired"), ("exp", .number(1e300), "expired"),
            ("exp", .number(-1e300), "expired"),
            ("iat", .integer(now + 61), "this time"), ("iat", .integer(now - 601), "this time"),
            ("iat", .null, "this time"), ("nbf", .integer(now + 61), "valid yet"),
            ("nbf", .string("now"), "valid yet"),
            ("nonce", .string("m"), "another sign-in"), ("nonce", .null, "another sign-in"),
            ("sub", .null, "subject"), ("sub", .string(""), "subject"),
            ("sub", .integer(7), "subject"), ("sub", .string("a\u{0}b"), "subject"),
            ("sub", .string(String(repeating: "a", count: 256)), "subject"),
        ] as [(String, JSONValue, String)])
    func aTokenWithAWrongClaimIsRefused(
        name: String, value: JSONValue, expected: String
    ) throws {
        provider.change { $0.claims = [name: value] }
        let fault = try #require(problem(provider.idToken(person, nonce: "n")))
        #expect(fault.contains(expected), "\(fault)")
    }

    @Test(
        arguments: [
            ("aud", .array([.string("client-1")])), ("exp", .integer(now - 59)),
            ("exp", .number(Double(now) + 0.5)), ("iat", .integer(now + 59)),
            ("nbf", .integer(now)), ("azp", .string("client-1")), ("acr", .string("0")),
        ] as [(String, JSONValue)])
    func whatTheSpecificationAllowsIsAccepted(name: String, value: JSONValue) throws {
        provider.change { $0.claims = [name: value] }
        #expect(problem(provider.idToken(person, nonce: "n")) == nil)
    }

    @Test func severalAudiencesNeedTheAuthorizedParty() throws {
        provider.change {
            $0.claims = [
                "aud": .array([.string("other"), .string("client-1")]), "azp": .string("client-1"),
            ]
        }
        #expect(problem(provider.idToken(person, nonce: "n")) == nil)
    }

    @Test(arguments: ["none", "None", "HS256", "HS512", "PS256", "ES384", "RS512", ""])
    func noOtherAlgorithmIsAccepted(algorithm: String) throws {
        provider.change { $0.algorithm = algorithm }
        #expect(
            try #require(problem(provider.idToken(person, nonce: "n"))).contains("not signed by"))
    }

    /// RFC 8725 §2.1: the public key as the secret of an HMAC.
    @Test func thePublicKeyIsNotASharedSecret() throws {
        let rsa = try PrivateKey.generate(.rs256)
        provider.change {
            $0.algorithm = "HS256"
            $0.sign = { HMACKey(secret: Array(rsa.publicKey.pem.utf8)).authenticate($0) }
        }
        let token = provider.idToken(person, nonce: "n")
        #expect(problem(token, by: try keySet(("k1", rsa))) != nil)
    }

    @Test func theAlgorithmIsThatOfTheKey() throws {
        provider.change { $0.algorithm = "RS256" }
        let fault = problem(provider.idToken(person, nonce: "n"))
        #expect(try #require(fault).contains("not signed with a key"))
    }

    @Test func anUnsignedTokenIsRefused() throws {
        provider.change { $0.sign = { _ in [] } }
        #expect(try #require(problem(provider.idToken(person, nonce: "n"))).contains("signature"))
        let token = provider.idToken(person, nonce: "n")
        #expect(problem(String(token.dropLast())) != nil)
    }

    @Test func theSignatureIsOfEveryByte() throws {
        let token = provider.idToken(person, nonce: "n")
        for index in token.indices where token[index] != "." {
            var changed = Array(token)
            let offset = token.distance(from: token.startIndex, to: index)
            changed[offset] = changed[offset] == "A" ? "B" : "A"
            #expect(problem(String(changed)) != nil)
        }
        for end in token.indices { #expect(problem(String(token[..<end])) != nil) }
    }

    @Test func anotherKeyOfTheSameNameIsRefused() throws {
        let other = try PrivateKey.generate(.es256)
        let token = provider.idToken(person, nonce: "n")
        #expect(problem(token, by: try keySet(("k1", other))) != nil)
        #expect(problem(token, by: try keySet(("k2", key))) != nil)
        #expect(problem(token, by: try keySet(("k2", other), ("k1", key))) == nil)
        // Which of two it is cannot be told.
        #expect(problem(token, by: try keySet(("k1", other), ("k1", key))) != nil)
    }

    @Test func withoutANameTheOnlyKeyOfTheAlgorithmIsTaken() throws {
        provider.change { $0.keyID = nil }
        let token = provider.idToken(person, nonce: "n")
        #expect(problem(token) == nil)
        let rsa = try PrivateKey.generate(.rs256)
        #expect(problem(token, by: try keySet((nil, rsa), ("k1", key))) == nil)
        let other = try PrivateKey.generate(.es256)
        #expect(problem(token, by: try keySet(("k2", other), ("k1", key))) != nil)
    }

    @Test(
        arguments: [
            ("crit", .array([.string("exp")])), ("b64", .bool(false)),
            ("typ", .string("at+jwt")), ("typ", .string("logout+jwt")), ("typ", .integer(1)),
            ("kid", .integer(1)),
        ] as [(String, JSONValue)])
    func aTokenOfAnotherKindIsRefused(name: String, value: JSONValue) throws {
        provider.change { $0.header = [name: value] }
        #expect(problem(provider.idToken(person, nonce: "n")) != nil)
    }

    @Test func aTypeOfJWTIsAccepted() throws {
        provider.change { $0.header = ["typ": .string("JWT")] }
        #expect(problem(provider.idToken(person, nonce: "n")) == nil)
    }

    @Test(arguments: ["", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30.e30.e30.e30"])
    func whatIsNoTokenIsRefused(text: String) {
        #expect(problem(text) != nil)
    }

    @Test func aLongTokenIsNotRead() throws {
        provider.change { $0.claims = ["x": .string(String(repeating: "x", count: 16_384))] }
        #expect(try #require(problem(provider.idToken(person, nonce: "n"))).contains("too long"))
    }

    @Test(
        arguments: [
            (.bool(true), true), (.string("true"), true), (.bool(false), false),
            (.string("false"), false), (.string("1"), false), (.integer(1), false), (.null, false),
        ] as [(JSONValue, Bool)])
    func anEmailIsVerifiedOnlyIfTheProviderSaysSo(value: JSONValue, isVerified: Bool) throws {
        provider.change { $0.claims = ["email_verified": value] }
        let identity = try verify(provider.idToken(person, nonce: "n"))
        #expect(identity.isEmailVerified == isVerified)
        #expect(identity.email == "ada@example.com")
    }
}
