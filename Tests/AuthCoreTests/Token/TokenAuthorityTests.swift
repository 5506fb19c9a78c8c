import Cryptography
import StrictJSON
import TestSupport
import Testing

@testable import AuthCore

/// Token confusion of every kind: what is not a token of the kind asked for, signed by a key of
/// its use, ours, whole and in time, is as good as forged.
struct TokenAuthorityTests {
    private let world: AgentWorld
    private let account: Account

    init() throws {
        world = try AgentWorld()
        account = Account(
            id: AccountID(random: [UInt8](repeating: 1, count: 16)),
            address: try #require(Address(parsing: "agent@mail.test")),
            credential: .apiKey(APIKeyDigest(bytes: [UInt8](repeating: 2, count: 32))), quota: 1,
            created: world.clock.now)
    }

    @Test func everyKindComesBackAsItWasSigned() async throws {
        #expect(try await roundTrip(challenge)?.token == challenge)
        #expect(try await roundTrip(session)?.token == session)
        #expect(try await roundTrip(capability)?.token == capability)
    }

    @Test func noKindPassesForAnother() async throws {
        let tokens = [
            try await sign(challenge), try await sign(session), try await sign(capability),
        ]
        for (index, token) in tokens.enumerated() {
            #expect(try await verifies(token, as: ChallengeToken.self) == (index == 0))
            #expect(try await verifies(token, as: SessionToken.self) == (index == 1))
            #expect(try await verifies(token, as: CapabilityToken.self) == (index == 2))
        }
    }

    @Test func theHeaderIsTheContracts() async throws {
        let header = try #require(CompactToken(try await sign(capability))).header
        #expect(header.string("alg") == "RS256")
        #expect(header.string("typ") == "JWT")
        #expect(header.string("kid") != nil)
        #expect(header.members.count == 3)
    }

    @Test func withoutKeyIDsTheHeaderHasTwoMembersAndStillVerifies() async throws {
        let world = try AgentWorld(capabilityKeyID: false)
        let token = try await world.tokens.sign(
            capability, lifetime: .seconds(120), at: world.clock.now)
        #expect(try #require(CompactToken(token)).header.members.map(\.name) == ["alg", "typ"])
        let verified = try await world.tokens.verify(
            token, as: CapabilityToken.self, at: world.clock.now)
        #expect(verified?.token == capability)
    }

    @Test func timesAreIntegersInSeconds() async throws {
        let claims = try #require(CompactToken(try await sign(capability))?.claims)
        let issued = try #require(claims.integer("iat"))
        #expect(issued == world.clock.now.seconds)
        #expect(claims.integer("exp") == issued + 120)
    }

    @Test func algorithmsAreOursNotTheTokens() async throws {
        let genuine = try await sign(session)
        let parts = genuine.split(separator: ".")
        for algorithm in ["none", "None", "HS384", "RS256", "hs256"] {
            let header = try edited(String(parts[0]), "HS256", algorithm)
            #expect(try await !verifies("\(header).\(parts[1]).\(parts[2])", as: SessionToken.self))
            #expect(try await !verifies("\(header).\(parts[1]).", as: SessionToken.self))
        }
    }

    @Test func aPublicKeyIsNoHMACSecret() async throws {
        let genuine = try await sign(capability)
        let parts = genuine.split(separator: ".")
        let published = try #require(
            try await world.keys.published(.capability, at: world.clock.now).first)
        let modulus = try #require(Base64URL.decode(Array(published.modulus.utf8)))
        let exponent = try #require(Base64URL.decode(Array(published.exponent.utf8)))
        let key = try RSAPublicKey(modulus: modulus, exponent: exponent)
        for algorithm in ["HS256", "RS256"] {
            for secret in [Array(key.pem.utf8), modulus] {
                let header = try edited(String(parts[0]), "RS256", algorithm)
                let message = "\(header).\(parts[1])"
                let mac = HMACKey(secret: secret).authenticate(Array(message.utf8))
                let forged = "\(message).\(Base64URL.encode(mac))"
                #expect(try await !verifies(forged, as: CapabilityToken.self))
            }
        }
    }

    @Test func anUnknownKeyIDIsRefused() async throws {
        for replacement in [#""kid":"x"#, #""kid":1,"xid":""#, #""xid":""#] {
            let token = try await sign(session)
            let parts = token.split(separator: ".")
            let header = try edited(String(parts[0]), #""kid":""#, replacement)
            #expect(try await !verifies("\(header).\(parts[1]).\(parts[2])", as: SessionToken.self))
        }
    }

    @Test func everyChangedBitIsNoticed() async throws {
        let token = Array(try await sign(challenge).utf8)
        for index in stride(from: 0, to: token.count, by: 3) {
            var changed = token
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : 0x41
            let text = String(decoding: changed, as: UTF8.self)
            #expect(try await !verifies(text, as: ChallengeToken.self))
        }
    }

    @Test func expiryIsTheInstantItself() async throws {
        let token = try await sign(session)
        world.clock.advance(by: .seconds(119))
        #expect(try await verifies(token, as: SessionToken.self))
        world.clock.advance(by: .seconds(1))
        #expect(try await !verifies(token, as: SessionToken.self))
    }

    @Test func aTokenFromTheFutureIsNotYetValid() async throws {
        let skewed = world.clock.now.advanced(by: .seconds(59))
        let future = world.clock.now.advanced(by: .seconds(61))
        let near = try await world.tokens.sign(session, lifetime: .seconds(120), at: skewed)
        let far = try await world.tokens.sign(session, lifetime: .seconds(120), at: future)
        #expect(try await verifies(near, as: SessionToken.self))
        #expect(try await !verifies(far, as: SessionToken.self))
    }

    @Test func aTokenOfAnotherServerIsNotOurs() async throws {
        // Same keys, another name: two servers on one database that were given different URLs.
        let other = TokenAuthority(
            realm: Realm(issuer: "https://other.test", capabilityAudience: "api-service"),
            keys: world.keys, signers: InlineWorkers())
        let token = try await other.sign(session, lifetime: .seconds(120), at: world.clock.now)
        #expect(try await !verifies(token, as: SessionToken.self))
    }

    @Test(arguments: [
        #"{"iss":"I","aud":"A","sub":"S","inboxId":"a@b","ver":1,"jti":"j","iat":1800000000}"#,
        #"{"iss":"I","aud":"A","sub":"S","inboxId":"a@b","ver":1,"jti":"j","exp":1900000000}"#,
        #"{"iss":"I","aud":"A","sub":"S","inboxId":"a@b","ver":1.0,"jti":"j","iat":1800000000,"exp":1900000000}"#,
        #"{"iss":"I","aud":"A","sub":"S","inboxId":"a@b","ver":1,"jti":"j","iat":1800000000,"exp":1.9e9}"#,
        #"{"iss":"I","aud":"A","sub":"S","inboxId":"a@b","ver":1,"jti":"j","iat":"1800000000","exp":1900000000}"#,
        #"{"iss":"I","aud":"A","sub":"S","inboxId":"a@b","ver":1,"jti":"j","iat":1800000000,"exp":1e400}"#,
        #"{"iss":"I","aud":["A"],"sub":"S","inboxId":"a@b","ver":1,"jti":"j","iat":1800000000,"exp":1900000000}"#,
        #"{"iss":"I","aud":"A","sub":"not-a-uuid","inboxId":"a@b","ver":1,"jti":"j","iat":1800000000,"exp":1900000000}"#,
        #"{"iss":"I","aud":"A","sub":"S","sub":"S","inboxId":"a@b","ver":1,"jti":"j","iat":1800000000,"exp":1900000000}"#,
        #"[]"#, "", "{",
    ])
    func claimsOfTheWrongShapeAreRefusedThoughSignedByUs(claims: String) async throws {
        // Even our own signature does not make a claim something it is not.
        #expect(try await verifies(try await signRaw(wellFormed), as: SessionToken.self))
        #expect(try await !verifies(try await signRaw(claims), as: SessionToken.self))
    }

    @Test func aCriticalHeaderThatWeDoNotKnowIsRefused() async throws {
        let token = try await signRaw(wellFormed, extra: #","crit":["b64"]"#)
        #expect(try await !verifies(token, as: SessionToken.self))
    }

    private var wellFormed: String {
        #"{"iss":"I","aud":"A","sub":"S","inboxId":"a@b","ver":1,"jti":"j","iat":1800000000,"exp":1900000000}"#
    }

    private var challenge: ChallengeToken {
        ChallengeToken(id: "abc", difficulty: 6, salt: AgentWorld.salt)
    }

    private var session: SessionToken { SessionToken(id: "s-1", account: account) }

    private var capability: CapabilityToken {
        CapabilityToken(id: "c-1", subject: "agent@mail.test", account: account)
    }

    private func sign<Kind: TokenKind>(_ token: Kind) async throws -> String {
        try await world.tokens.sign(token, lifetime: .seconds(120), at: world.clock.now)
    }

    private func roundTrip<Kind: TokenKind>(
        _ token: Kind
    ) async throws -> (token: Kind, expiry: Instant)? {
        try await world.tokens.verify(try await sign(token), as: Kind.self, at: world.clock.now)
    }

    private func verifies<Kind: TokenKind>(_ text: String, as: Kind.Type) async throws -> Bool {
        try await world.tokens.verify(text, as: Kind.self, at: world.clock.now) != nil
    }

    /// The header with one piece of its JSON text replaced.
    private func edited(_ part: String, _ old: String, _ new: String) throws -> String {
        let json = String(
            decoding: try #require(Base64URL.decode(Array(part.utf8))), as: UTF8.self)
        let range = try #require(json.firstRange(of: old))
        return Base64URL.encode(
            Array((json[..<range.lowerBound] + new + json[range.upperBound...]).utf8))
    }

    /// A session token with these very claims, signed with the real key.
    private func signRaw(_ claims: String, extra: String = "") async throws -> String {
        let key = try await world.keys.signingKey(for: .agent, at: world.clock.now)
        guard case .hmac(let hmac) = key.secret else { throw AgentWorld.Unsolved() }
        var filled = claims
        for (name, value) in [
            (#""I""#, "\"\(AgentWorld.issuer)\""), (#""A""#, "\"\(AgentWorld.issuer)/api/v1\""),
            (#""S""#, "\"\(account.id)\""),
        ] {
            while let range = filled.firstRange(of: name) {
                filled.replaceSubrange(range, with: value)
            }
        }
        let header = #"{"alg":"HS256","typ":"session+jwt","kid":"\#(key.id)"\#(extra)}"#
        let message =
            Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(filled.utf8))
        return message + "." + Base64URL.encode(hmac.authenticate(Array(message.utf8)))
    }
}
