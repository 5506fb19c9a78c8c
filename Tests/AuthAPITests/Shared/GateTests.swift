import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// Rate limits as clients see them.
struct GateTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld(AgentWorld(limits: true))
    }

    @Test func theNinthRequestInASecondIsTold() async throws {
        for left in (0..<8).reversed() {
            let response = await api.call(.get, "/api/challenge")
            #expect(response.status == .ok)
            #expect(response.header("RateLimit-Limit") == "8")
            #expect(response.header("RateLimit-Remaining") == String(left))
        }
        let refused = await api.call(.get, "/api/challenge")
        try expectRefusal(refused, 429, "rate_limit_exceeded")
        #expect(refused.header("Retry-After") == "1")
        #expect(refused.header("RateLimit-Limit") == "8")
        #expect(refused.header("RateLimit-Remaining") == "0")
        #expect(refused.header("RateLimit-Reset") == "1")
        // The same bucket for every surface, each in its own shape.
        let agents = await api.call(.post, "/api/v1/challenge")
        #expect(agents.status == .tooManyRequests)
        #expect(try agents.agentError.anchor == "limits-and-retries")
        api.world.clock.advance(by: .seconds(1))
        #expect(await api.call(.post, "/api/v1/challenge").status == .ok)
    }

    @Test func refusalsCountAndSayWhereTheCallerStands() async throws {
        let response = await api.call(.post, "/api/token", json: "{")
        #expect(response.status == .badRequest)
        #expect(response.header("RateLimit-Remaining") == "7")
    }

    @Test func healthAndDiscoveryAreNotCounted() async throws {
        for _ in 0..<20 {
            for path in ["/healthz", "/readyz", "/llms.txt", "/.well-known/jwks.json"] {
                let response = await api.call(.get, path)
                #expect(response.status == .ok)
                #expect(response.header("RateLimit-Limit") == nil)
            }
        }
    }

    @Test func aProTokenHasABucketOfItsOwn() async throws {
        let pro = try await api.pro()
        for _ in 0..<20 { _ = await api.call(.get, "/api/challenge") }
        for _ in 0..<20 {
            #expect(await api.call(.get, "/api/user/me", bearer: pro).status == .ok)
        }
        try expectRefusal(
            await api.call(.get, "/api/user/me", bearer: pro), 429, "rate_limit_exceeded")
    }

    @Test func oneFreeCreationInEightSecondsForBothSurfaces() async throws {
        #expect(try await api.create("one@mail.test").status == .created)
        api.world.clock.advance(by: .seconds(2))
        let refused = try await api.create("two@mail.test")
        try expectRefusal(refused, 429, "rate_limit_exceeded")
        #expect(refused.header("Retry-After") == "6")
        #expect(refused.header("RateLimit-Limit") == "1")
        #expect(refused.header("RateLimit-Remaining") == "0")
        #expect(refused.header("RateLimit-Reset") == "6")
        let (challenge, proof) = try await api.solvedChallenge()
        let json = proof.json(#""username":"myagent""#)
        let agent = await api.call(.post, "/api/v1/session", bearer: challenge, json: json)
        #expect(agent.status == .tooManyRequests)
        api.world.clock.advance(by: .seconds(6))
        // A 429 spends nothing.
        let now = await api.call(.post, "/api/v1/session", bearer: challenge, json: json)
        #expect(now.status == .created)
    }

    @Test func aCreationThatFailsIsGivenBack() async throws {
        #expect(try await api.create("one@mail.test").status == .created)
        api.world.clock.advance(by: .seconds(8))
        try expectRefusal(try await api.create("one@mail.test"), 409, "address_taken")
        #expect(try await api.create("two@mail.test").status == .created)
    }

    @Test func guessesAreSlowedAndAStaleRepeatIsNot() async throws {
        #expect(try await api.create("demo@mail.test").status == .created)
        api.world.clock.advance(by: .seconds(60))
        for _ in 0..<12 {
            api.world.clock.advance(by: .seconds(1))
            try expectRefusal(
                await api.login("demo@mail.test", password: "stale-one"), 401,
                "invalid_credentials")
        }
        var slowed = false
        for number in 0..<30 {
            api.world.clock.advance(by: .milliseconds(200))
            let response = await api.login("demo@mail.test", password: "guess-\(number)")
            guard response.status == .tooManyRequests else { continue }
            slowed = true
            // No bucket of the client's is empty, so none is shown.
            #expect(response.header("Retry-After") != nil)
            #expect(response.header("RateLimit-Remaining") == nil)
        }
        #expect(slowed)
        api.world.clock.advance(by: .seconds(3600))
        #expect(await api.login("demo@mail.test").status == .ok)
    }
}
