import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// The successful responses of the agent API.
struct AgentAPITests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test func aChallengeHasItsTokenAndItsParameters() async throws {
        let response = await api.call(.post, "/api/v1/challenge")
        #expect(response.status == .ok)
        #expect(response.header("Cache-Control") == "no-store")
        let body = try response.json
        #expect(body.names == ["difficulty", "expiresIn", "pow", "_next"])
        #expect(body.number("difficulty") == 2)
        #expect(body.number("expiresIn") == 180)
        let pow = try #require(body.object("pow"))
        #expect(pow.names == ["algorithm", "N", "r", "p", "dkLen", "salt", "input"])
        #expect(pow.text("algorithm") == "scrypt")
        #expect(pow.number("dkLen") == 64)
        #expect(pow.text("salt") == AgentWorld.salt)
        let token = try await api.world.tokens.verify(
            try response.bearer, as: AgentChallengeToken.self, at: api.world.clock.now)
        let challenge = try #require(token?.token)
        #expect(pow.text("input") == "\(challenge.id):<nonce>")
        #expect(!challenge.id.contains(":"))
        #expect(challenge.id.utf8.count >= 22)
        #expect(body.list("_next")?.isEmpty == false)
    }

    @Test func anEndpointThatNeedsNoBodyIgnoresAnyBody() async throws {
        for type in ["text/plain", "application/json"] {
            let response = await api.router.respond(
                to: Request(
                    method: .post, target: "/api/v1/challenge",
                    headers: [("Content-Type", type)], body: Array("{not json".utf8)))
            #expect(response.status == .ok)
        }
    }

    @Test func aSignUpIsCreatedAndShowsTheAPIKey() async throws {
        let (session, body) = try await api.signUp("MyAgent")
        #expect(body.names == ["apiKey", "inbox", "accountId", "_next"])
        #expect(body.text("inbox") == "myagent@mail.test")
        #expect(AccountID(try #require(body.text("accountId"))) != nil)
        #expect(try #require(body.text("apiKey")).hasPrefix("pst_"))
        #expect(session.split(separator: ".").count == 3)
    }

    @Test func aSessionIsEndedAlone() async throws {
        let (session, account) = try await api.signUp("myagent")
        let key = try #require(account.text("apiKey"))
        let (challenge, proof) = try await api.solvedChallenge()
        let other = try await api.call(
            .post, "/api/v1/session", bearer: challenge, json: proof.json(#""apiKey":"\#(key)""#)
        ).bearer
        let ended = await api.call(.delete, "/api/v1/session", bearer: session)
        #expect(ended.status == .noContent && ended.body.isEmpty)
        for (method, path) in [
            (.post, "/api/v1/capability"), (.delete, "/api/v1/session"), (.post, "/api/v1/api-key"),
            (.delete, "/api/v1/account"),
        ] as [(HTTPEngine.Method, String)] {
            let response = await api.call(method, path, bearer: session)
            #expect(response.status == .unauthorized, "\(path)")
        }
        #expect(await api.call(.delete, "/api/v1/session").status == .unauthorized)
        #expect(await api.call(.post, "/api/v1/capability", bearer: other).status == .ok)
        let event = try #require(
            try await api.world.events.last { $0.kind == .sessionEnded })
        #expect(event.subject == "myagent@mail.test" && event.requestID.isEmpty == false)
    }

    @Test func aLoginDoesNotShowTheAPIKey() async throws {
        let (_, account) = try await api.signUp("myagent")
        let key = try #require(account.text("apiKey"))
        let (challenge, proof) = try await api.solvedChallenge()
        let response = await api.call(
            .post, "/api/v1/session", bearer: challenge, json: proof.json(#""apiKey":"\#(key)""#))
        #expect(response.status == .ok)
        let body = try response.json
        #expect(body.names == ["inbox", "accountId", "_next"])
        #expect(body.text("accountId") == account.text("accountId"))
    }

    @Test func anIntegerNonceCountsAsItsDecimalText() async throws {
        let (challenge, proof) = try await api.solvedChallenge()
        let json = proof.json(#""username":"myagent","utm_source":"x","unknown":[1]"#)
        let nonce = try #require(proof.nonce)
        let quoted = #""nonce":"\#(nonce)""#
        let range = try #require(json.firstRange(of: quoted))
        let unquoted =
            json[..<range.lowerBound] + #""nonce":\#(nonce)"#
            + json[range.upperBound...]
        let response = await api.call(
            .post, "/api/v1/session", bearer: challenge, json: String(unquoted))
        #expect(response.status == .created)
    }

    @Test func anIntegerNonceMayHave64Bits() async throws {
        let issued = try await api.world.agents.issueChallenge(to: api.world.caller)
        let puzzle = Puzzle.scrypt(parameters: AgentWorld.scrypt, salt: AgentWorld.salt)
        for number in stride(from: UInt64.max, to: UInt64.max - 1000, by: -1) {
            let digest = try puzzle.digest(challenge: issued.challenge.id, nonce: Nonce(number))
            guard leadingZeroBits(digest) >= issued.challenge.difficulty else { continue }
            let json = Proof(nonce: Nonce(number), digest: digest).json(#""username":"myagent""#)
                .replacing(#""\#(number)""#, with: "\(number)")
            let response = await api.call(
                .post, "/api/v1/session", bearer: issued.token, json: json)
            #expect(response.status == .created)
            return
        }
        Issue.record("no nonce found")
    }

    @Test func theDigestMayBeInEitherCase() async throws {
        let (challenge, proof) = try await api.solvedChallenge()
        let json = proof.json(#""USERNAME":"-""#).uppercased()
        let upper = json.replacing(#""POWHEX""#, with: #""powHex""#)
            .replacing(#""NONCE""#, with: #""nonce""#)
            .replacing(#""USERNAME":"-""#, with: #""username":"myagent""#)
        let response = await api.call(.post, "/api/v1/session", bearer: challenge, json: upper)
        #expect(response.status == .created)
    }

    @Test func aCapabilityHasItsLifetimeAndItsClaims() async throws {
        let (session, account) = try await api.signUp("myagent")
        let response = await api.call(.post, "/api/v1/capability", bearer: session)
        #expect(response.status == .ok)
        #expect(try response.json.number("expiresIn") == 120)
        let verified = try await api.world.tokens.verify(
            try response.bearer, as: CapabilityToken.self, at: api.world.clock.now)
        let capability = try #require(verified?.token)
        #expect(capability.subject == "myagent@mail.test")
        #expect(capability.inbox == "myagent@mail.test")
        #expect(capability.allowedFromDomain == "mail.test")
        #expect(capability.accountID.text == account.text("accountId"))
    }

    @Test func aMailboxWithAPasswordGetsACapabilityForItsEmailJWT() async throws {
        let (id, token) = try await api.account("demo@mail.test")
        let response = await api.call(.post, "/api/v1/capability", bearer: token)
        #expect(response.status == .ok)
        let verified = try await api.world.tokens.verify(
            try response.bearer, as: CapabilityToken.self, at: api.world.clock.now)
        #expect(verified?.token.subject == "demo@mail.test")
        #expect(verified?.token.accountID.text == id)
        let ended = await api.call(.delete, "/api/token", bearer: token)
        #expect(ended.status == .noContent)
        let after = await api.call(.post, "/api/v1/capability", bearer: token)
        #expect(try after.agentError.message == "Invalid or expired session")
        // A user's token is for many mailboxes.
        let pro = await api.call(.post, "/api/v1/capability", bearer: try await api.pro())
        #expect(pro.status == .unauthorized)
    }

    @Test func aNewAPIKeyEndsTheSessionThatRequestedIt() async throws {
        let (session, account) = try await api.signUp("myagent")
        let response = await api.call(.post, "/api/v1/api-key", bearer: session)
        #expect(response.status == .ok)
        let key = try #require(try response.json.text("apiKey"))
        #expect(key != account.text("apiKey"))
        let after = await api.call(.post, "/api/v1/capability", bearer: session)
        #expect(after.status == .unauthorized)
    }

    @Test func aDeletedAccountHasNoValidToken() async throws {
        let (session, _) = try await api.signUp("myagent")
        let capability = try await api.call(.post, "/api/v1/capability", bearer: session).bearer
        let response = await api.call(.delete, "/api/v1/account", bearer: session)
        #expect(response.status == .noContent)
        #expect(response.body.isEmpty)
        let again = await api.call(.delete, "/api/v1/account", bearer: session)
        #expect(again.status == .unauthorized)
        let jmap = await api.call(.get, "/.well-known/jmap", bearer: capability)
        #expect(jmap.status == .unauthorized)
        #expect(try jmap.agentError.message == "Invalid or expired capability")
    }
}
