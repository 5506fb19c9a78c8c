import Cryptography
import StrictJSON
import TestSupport
import Testing

@testable import AuthCore

/// A token is valid only as the kind that it was signed as, with a key of that kind's use, under
/// this server's names, unchanged and within its lifetime.
struct TokenAuthorityTests {
    private let world: AgentWorld
    private let account: Account
    private let holder: Email

    init() throws {
        world = try AgentWorld()
        holder = try #require(Email(parsing: "holder@example.com"))
        account = Account(
            id: AccountID(random: [UInt8](repeating: 1, count: 16)),
            address: try #require(Address(parsing: "agent@mail.test")),
            credential: .apiKey(APIKeyDigest(bytes: [UInt8](repeating: 2, count: 32))), quota: 1,
            created: world.clock.now)
    }

    @Test func everyKindIsReadAsItWasSigned() async throws {
        #expect(try await roundTrip(challenge)?.token == challenge)
        #expect(try await roundTrip(session)?.token == session)
        #expect(try await roundTrip(capability)?.token == capability)
        #expect(try await roundTrip(accountsChallenge)?.token == accountsChallenge)
        #expect(try await roundTrip(email)?.token == email)
        #expect(try await roundTrip(pro)?.token == pro)
        #expect(try await roundTrip(login)?.token == login)
    }

    @Test func noKindIsValidAsAnother() async throws {
        let tokens = [
            try await sign(challenge), try await sign(session), try await sign(capability),
            try await sign(accountsChallenge), try await sign(email), try await sign(pro),
            try await sign(login),
        ]
        for (index, token) in tokens.enumerated() {
            let isValid = [
                try await verifies(token, as: AgentChallengeToken.self),
                try await verifies(token, as: SessionToken.self),
                try await verifies(token, as: CapabilityToken.self),
                try await verifies(token, as: AccountsChallengeToken.self),
                try await verifies(token, as: EmailToken.self),
                try await verifies(token, as: ProToken.self),
                try await verifies(token, as: LoginToken.self),
            ]
            #expect(isValid == tokens.indices.map { $0 == index })
        }
    }

    @Test func theHeaderHasAlgTypAndKid() async throws {
        let header = try #require(CompactToken(try await sign(capability))).header
        #expect(header.string("alg") == "RS256")
        #expect(header.string("typ") == "JWT")
        #expect(header.string("kid") != nil)
        #expect(header.members.count == 3)
    }

    @Test func aCapabilityWithoutKeyIDHasTwoHeaderMembersAndIsValid() async throws {
        let world = try AgentWorld(capabilityKeyID: false)
        let token = try await world.tokens.sign(
            capability, lifetime: .seconds(120), at: world.clock.now)
        #expect(try #require(CompactToken(token)).header.members.map(\.name) == ["alg", "typ"])
        let verified = try await world.tokens.verify(
            token, as: CapabilityToken.self, at: world.clock.now)
        #expect(verified?.token == capability)
    }

    @Test func timesAreWholeSeconds() async throws {
        let claims = try #require(CompactToken(try await sign(capability))?.claims)
        let issued = try #require(claims.integer("iat"))
        #expect(issued == world.clock.now.seconds)
        #expect(claims.integer("exp") == issued + 120)
    }

    @Test func theAlgorithmIsNeverTakenFromTheToken() async throws {
        let genuine = try await sign(session)
        let parts = genuine.split(separator: ".")
        for algorithm in ["none", "None", "HS384", "RS256", "hs256"] {
            let header = try edited(String(parts[0]), "HS256", algorithm)
            #expect(try await !verifies("\(header).\(parts[1]).\(parts[2])", as: SessionToken.self))
            #expect(try await !verifies("\(header).\(parts[1]).", as: SessionToken.self))
        }
    }

    private struct NotRSA: Error {}

    @Test func aPublicKeyIsNotAcceptedAsAnHMACSecret() async throws {
        let genuine = try await sign(capability)
        let parts = genuine.split(separator: ".")
        let published = try #require(
            try await world.keys.published(.capability, at: world.clock.now).first)
        guard case .rsa(let modulus, _) = published.parameters else { throw NotRSA() }
        for algorithm in ["HS256", "RS256"] {
            for secret in [Array(published.pem.utf8), modulus] {
                let header = try edited(String(parts[0]), "RS256", algorithm)
                let message = "\(header).\(parts[1])"
                let mac = HMACKey(secret: secret).authenticate(Array(message.utf8))
                let forged = "\(message).\(Base64URL.encode(mac))"
                #expect(try await !verifies(forged, as: CapabilityToken.self))
            }
        }
    }

    @Test func anUnknownKeyIDIsInvalid() async throws {
        for replacement in [#""kid":"x"#, #""kid":1,"xid":""#, #""xid":""#] {
            let token = try await sign(session)
            let parts = token.split(separator: ".")
            let header = try edited(String(parts[0]), #""kid":""#, replacement)
            #expect(try await !verifies("\(header).\(parts[1]).\(parts[2])", as: SessionToken.self))
        }
    }

    @Test(arguments: [(-1, false), (0, true), (512, true), (513, false)])
    func aDifficultyIsAtMostTheBitsOfADigest(difficulty: Int, isValid: Bool) async throws {
        let token = AgentChallengeToken(id: "abc", difficulty: difficulty, salt: AgentWorld.salt)
        #expect(try await verifies(try await sign(token), as: AgentChallengeToken.self) == isValid)
        let other = AccountsChallengeToken(
            id: "abc", difficulty: difficulty - 256, salt: AgentWorld.salt)
        #expect(
            try await verifies(try await sign(other), as: AccountsChallengeToken.self)
                == (256...512).contains(difficulty))
    }

    @Test func everyChangedCharacterMakesATokenInvalid() async throws {
        let token = Array(try await sign(challenge).utf8)
        for index in stride(from: 0, to: token.count, by: 3) {
            var changed = token
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : 0x41
            let text = String(decoding: changed, as: UTF8.self)
            #expect(try await !verifies(text, as: AgentChallengeToken.self))
        }
    }

    @Test func aTokenIsInvalidFromItsExpiryOn() async throws {
        let token = try await sign(session)
        world.clock.advance(by: .seconds(119))
        #expect(try await verifies(token, as: SessionToken.self))
        world.clock.advance(by: .seconds(1))
        #expect(try await !verifies(token, as: SessionToken.self))
    }

    @Test func aTokenIssuedMoreThanAMinuteInTheFutureIsInvalid() async throws {
        let skewed = world.clock.now.advanced(by: .seconds(59))
        let future = world.clock.now.advanced(by: .seconds(61))
        let near = try await world.tokens.sign(session, lifetime: .seconds(120), at: skewed)
        let far = try await world.tokens.sign(session, lifetime: .seconds(120), at: future)
        #expect(try await verifies(near, as: SessionToken.self))
        #expect(try await !verifies(far, as: SessionToken.self))
    }

    @Test func aTokenOfAnotherIssuerIsInvalid() async throws {
        // Same keys, another name: two servers on one database that were given different URLs.
        let other = TokenAuthority(
            realm: Realm(issuer: "https://other.test", capabilityAudience: "api-service"),
            keys: world.keys, signers: .forTests())
        let now = world.clock.now
        let token = try await other.sign(session, lifetime: .seconds(120), at: now)
        #expect(try await !verifies(token, as: SessionToken.self))
        // These two have the same audience, or none, whoever issued them.
        let capability = try await other.sign(capability, lifetime: .seconds(120), at: now)
        #expect(try await !verifies(capability, as: CapabilityToken.self))
        let login = try await other.sign(login, lifetime: .seconds(120), at: now)
        #expect(try await !verifies(login, as: LoginToken.self))
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
    func claimsOfTheWrongTypeAreInvalidThoughTheSignatureIsValid(claims: String) async throws {
        #expect(try await verifies(try await signRaw(wellFormed), as: SessionToken.self))
        #expect(try await !verifies(try await signRaw(claims), as: SessionToken.self))
    }

    @Test func aTokenThatNamesNoKeyIsInvalidThoughTheSignatureIsValid() async throws {
        #expect(try await verifies(try await signRaw(wellFormed), as: SessionToken.self))
        let token = try await signRaw(wellFormed, namesKey: false)
        #expect(try await !verifies(token, as: SessionToken.self))
    }

    @Test(arguments: [("RS256", true), ("ES256", false), ("EdDSA", false)])
    func anotherAlgorithmThanThatOfTheKeyIsInvalid(name: String, isValid: Bool) async throws {
        let token = try await signRaw(
            #"{"sub":"inbox","iat":\#(world.clock.now.seconds)}"#,
            header: #""alg":"\#(name)","typ":"JWT""#, use: .capability, namesKey: false)
        let found = try await world.tokens.read(
            token, as: MinimalCapabilityToken.self, at: world.clock.now)
        #expect((found != nil) == isValid)
    }

    @Test func aCriticalHeaderParameterIsInvalid() async throws {
        let token = try await signRaw(
            wellFormed, header: #""alg":"HS256","typ":"session+jwt","crit":["b64"]"#)
        #expect(try await !verifies(token, as: SessionToken.self))
    }

    @Test(arguments: [
        #""alg":"HS256","typ":"JWT""#, #""alg":"HS256","typ":"challenge+jwt""#,
        #""alg":"HS256","typ":"SESSION+JWT""#, #""alg":"HS256""#,
        #""alg":"HS384","typ":"session+jwt""#, #""alg":"none","typ":"session+jwt""#,
        #""typ":"session+jwt""#, #""alg":["HS256"],"typ":"session+jwt""#,
    ])
    func anotherTypeOrAlgorithmIsInvalidThoughTheSignatureIsValid(header: String) async throws {
        let token = try await signRaw(wellFormed, header: header)
        #expect(try await !verifies(token, as: SessionToken.self))
    }

    @Test(arguments: [
        (#""sub":"a@example.com","email":"a@example.com""#, true),
        (#""sub":"a@example.com","email":"b@example.com""#, false),
        (#""sub":"A@example.com","email":"a@example.com""#, false),
        (#""sub":"a@example.com","email":"a@example.com","aud":"x""#, false),
        (#""sub":"a","email":"a""#, false), (#""email":"a@example.com""#, false),
    ])
    func aLoginTokenHasOneEmailAndNoAudience(claims: String, isValid: Bool) async throws {
        let token = try await signRaw(
            #"{"iss":"L",\#(claims),"ver":1,"iat":1800000000,"exp":1900000000}"#,
            header: #""alg":"RS256","typ":"JWT""#, use: .login)
        #expect(try await verifies(token, as: LoginToken.self) == isValid)
    }

    private var wellFormed: String {
        #"{"iss":"I","aud":"A","sub":"S","inboxId":"a@b","ver":1,"jti":"j","iat":1800000000,"exp":1900000000}"#
    }

    private var challenge: AgentChallengeToken {
        AgentChallengeToken(id: "abc", difficulty: 6, salt: AgentWorld.salt)
    }

    private var session: SessionToken { SessionToken(id: "s-1", account: account) }

    private var capability: CapabilityToken {
        CapabilityToken(id: "c-1", subject: "agent@mail.test", account: account)
    }

    private var accountsChallenge: AccountsChallengeToken {
        AccountsChallengeToken(id: "def", difficulty: 20, salt: AgentWorld.salt)
    }

    private var email: EmailToken { EmailToken(id: "e-1", account: account) }

    private var pro: ProToken {
        let now = world.clock.now
        let user = User(
            id: UserID(random: [UInt8](repeating: 3, count: 16)), email: holder, password: nil,
            credentialVersion: 4, created: now)
        let session = UserSession(
            id: UserSessionID(random: [UInt8](repeating: 4, count: 16)), owner: user.id,
            method: .password, client: "", agent: "", created: now, lastUsed: now, expiry: now,
            authenticated: now)
        return ProToken(session: session, user: user)
    }

    private var login: LoginToken {
        LoginToken(
            HashLogin(
                email: holder, url: HashURL(text: "https://example.com/hash.txt"),
                credentialVersion: 5, created: world.clock.now))
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

    /// A token with exactly these claims, signed with the real key.
    private func signRaw(
        _ claims: String, header: String = #""alg":"HS256","typ":"session+jwt""#,
        use: KeyUse = .agent, namesKey: Bool = true
    ) async throws -> String {
        let key = try await world.keys.signingKey(for: use, at: world.clock.now)
        var filled = claims
        for (name, value) in [
            (#""I""#, "\"\(AgentWorld.issuer)\""), (#""A""#, "\"\(AgentWorld.issuer)/api/v1\""),
            (#""S""#, "\"\(account.id)\""), (#""L""#, "\"\(AgentWorld.loginIssuer)\""),
        ] {
            while let range = filled.firstRange(of: name) {
                filled.replaceSubrange(range, with: value)
            }
        }
        let name = namesKey ? #""kid":"\#(key.id)","# : ""
        let message =
            Base64URL.encode(Array("{\(name)\(header)}".utf8)) + "."
            + Base64URL.encode(Array(filled.utf8))
        let bytes = Array(message.utf8)
        let signature =
            switch key.secret {
            case .hmac(let hmac): hmac.authenticate(bytes)
            case .keyPair(let pair): try pair.sign(bytes)
            }
        return message + "." + Base64URL.encode(signature)
    }
}

extension TokenAuthority {
    fileprivate func sign(
        _ token: some TokenKind, lifetime: Duration, at now: Instant
    ) async throws -> String {
        let caller = Caller(
            address: AgentWorld.client, requestID: "test-1", now: now, arrival: .now)
        return try await sign(token, lifetime: lifetime, for: caller)
    }
}
