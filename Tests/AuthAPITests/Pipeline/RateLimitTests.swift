import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// Rate limits as clients of the APIs see them.
struct RateLimitTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld(AgentWorld(limits: true))
    }

    @Test func theNinthRequestInASecondIsRejected() async throws {
        for left in (0..<8).reversed() {
            let response = await api.call(.get, "/api/challenge")
            #expect(response.status == .ok)
            #expect(response.header("RateLimit-Limit") == "8")
            #expect(response.header("RateLimit-Remaining") == String(left))
        }
        let rejected = await api.call(.get, "/api/challenge")
        try expectError(rejected, 429, "rate_limit_exceeded")
        #expect(rejected.header("Retry-After") == "1")
        #expect(rejected.header("RateLimit-Limit") == "8")
        #expect(rejected.header("RateLimit-Remaining") == "0")
        #expect(rejected.header("RateLimit-Reset") == "1")
        // One bucket for all APIs; each has its own error shape.
        let agents = await api.call(.post, "/api/v1/challenge")
        #expect(agents.status == .tooManyRequests)
        #expect(try agents.agentError.anchor == "limits-and-retries")
        api.world.clock.advance(by: .seconds(1))
        #expect(await api.call(.post, "/api/v1/challenge").status == .ok)
    }

    /// Limits are counted on the monotonic clock: otherwise the buckets would be empty for a moment.
    @Test func settingTheClockBackMakesNoClientWait() async throws {
        for _ in 0..<7 { #expect(await api.call(.get, "/api/challenge").status == .ok) }
        api.world.clock.stepBack(by: .seconds(3600))
        let last = await api.call(.get, "/api/challenge")
        #expect(last.status == .ok && last.header("RateLimit-Remaining") == "0")
        let rejected = await api.call(.get, "/api/challenge")
        #expect(rejected.status == .tooManyRequests && rejected.header("Retry-After") == "1")
        api.world.clock.advance(by: .seconds(1))
        #expect(await api.call(.get, "/api/challenge").status == .ok)
    }

    /// A 429 of the first bucket costs no more than an answer without a store.
    @Test func beyondTheBucketOfTheClientNothingIsLookedUp() async throws {
        let stores = try AgentWorld().stores
        let accounts = FailingAccounts(stores.accounts)
        let api = try APIWorld(AgentWorld(stores: stores, accounts: accounts, limits: true))
        let (id, token) = try await api.account("free@mail.test")
        api.world.clock.advance(by: .seconds(10))
        for _ in 0..<20 { _ = await api.call(.get, "/api/accounts/\(id)", bearer: token) }
        let before = accounts.calls
        for bearer in [token, "tm_pro_unknown", nil] {
            let response = await api.call(.get, "/api/accounts/\(id)", bearer: bearer)
            try expectError(response, 429, "rate_limit_exceeded")
        }
        #expect(accounts.calls == before)
    }

    @Test func failedRequestsCountAndHaveTheRateLimitFields() async throws {
        let response = await api.call(.post, "/api/token", json: "{")
        #expect(response.status == .badRequest)
        #expect(response.header("RateLimit-Remaining") == "7")
    }

    @Test func healthAndDiscoveryAreNotLimited() async throws {
        for _ in 0..<20 {
            for path in ["/healthz", "/readyz", "/llms.txt", "/.well-known/jwks.json"] {
                let response = await api.call(.get, path)
                #expect(response.status == .ok)
                #expect(response.header("RateLimit-Limit") == nil)
            }
        }
    }

    @Test func requestsOfAUserHaveABucketOfTheirOwn() async throws {
        // With a high limit for the client, the limits of the classes are reached first.
        let api = try APIWorld(
            AgentWorld(limits: true, rates: [.client: .init(1000, per: .seconds(1))]))
        let pro = try await api.pro()
        for _ in 0..<20 { _ = await api.call(.get, "/api/challenge") }
        try expectError(await api.call(.get, "/api/challenge"), 429, "rate_limit_exceeded")
        for _ in 0..<20 {
            #expect(await api.call(.get, "/api/user/me", bearer: pro).status == .ok)
        }
        try expectError(
            await api.call(.get, "/api/user/me", bearer: pro), 429, "rate_limit_exceeded")
    }

    @Test func aClientMayCreateOneFreeMailboxInEightSecondsOnBothAPIs() async throws {
        #expect(try await api.create("one@mail.test").status == .created)
        api.world.clock.advance(by: .seconds(2))
        let rejected = try await api.create("two@mail.test")
        try expectError(rejected, 429, "rate_limit_exceeded")
        #expect(rejected.header("Retry-After") == "6")
        #expect(rejected.header("RateLimit-Limit") == "1")
        #expect(rejected.header("RateLimit-Remaining") == "0")
        #expect(rejected.header("RateLimit-Reset") == "6")
        let (challenge, proof) = try await api.solvedChallenge()
        let json = proof.json(#""username":"myagent""#)
        let agent = await api.call(.post, "/api/v1/session", bearer: challenge, json: json)
        #expect(agent.status == .tooManyRequests)
        api.world.clock.advance(by: .seconds(6))
        // A 429 spends no challenge.
        let now = await api.call(.post, "/api/v1/session", bearer: challenge, json: json)
        #expect(now.status == .created)
    }

    @Test func aCreationThatFailsDoesNotCount() async throws {
        #expect(try await api.create("one@mail.test").status == .created)
        api.world.clock.advance(by: .seconds(8))
        try expectError(try await api.create("one@mail.test"), 409, "address_taken")
        #expect(try await api.create("two@mail.test").status == .created)
    }

    @Test func guessesAreThrottledAndSoIsARepeatedPassword() async throws {
        for repeated in [false, true] {
            let address = "demo\(repeated)@mail.test"
            #expect(try await api.create(address).status == .created)
            api.world.clock.advance(by: .seconds(60))
            for number in 0..<9 {
                api.world.clock.advance(by: .milliseconds(200))
                let response = await api.login(
                    address, password: repeated ? "outdated" : "guess-\(number)")
                #expect(response.status == (number < 5 ? .unauthorized : .tooManyRequests))
                guard response.status == .tooManyRequests else { continue }
                // No bucket is empty, so none is described.
                #expect(response.header("Retry-After") == "1")
                #expect(response.header("RateLimit-Remaining") == nil)
            }
            api.world.clock.advance(by: .seconds(3600))
            #expect(await api.login(address).status == .ok)
        }
    }

    @Test func theTwentyFirstRequestOfAClientIsRejectedBeforeAnythingIsLookedUp() async throws {
        let stores = try AgentWorld().stores
        let accounts = FailingAccounts(stores.accounts)
        let api = try APIWorld(AgentWorld(stores: stores, accounts: accounts, limits: true))
        let (id, token) = try await api.account("demo@mail.test")
        api.world.clock.advance(by: .seconds(1))
        var lookups = 0
        for number in 1...20 {
            let response = await api.call(.get, "/api/accounts/\(id)", bearer: token)
            #expect(response.status == (number <= 8 ? .ok : .tooManyRequests))
            #expect(response.header("RateLimit-Limit") == "8")
            #expect(accounts.calls > lookups)
            lookups = accounts.calls
        }
        let rejected = await api.call(.get, "/api/accounts/\(id)", bearer: token)
        try expectError(rejected, 429, "rate_limit_exceeded")
        #expect(accounts.calls == lookups)
        // The fields describe the limit that was exceeded.
        #expect(rejected.header("RateLimit-Limit") == "20")
        #expect(rejected.header("RateLimit-Remaining") == "0")
        #expect(rejected.header("RateLimit-Reset") == "1")
    }

    @Test func theLimitOfTheClientIsSharedByAllAPIs() async throws {
        for _ in 0..<7 {
            for path in ["/api/v1/nothing", "/healthz"] { _ = await api.call(.get, path) }
            _ = await api.call(.get, "/api/domains")
            _ = await api.call(.post, "/api/v1/challenge")
            _ = await api.call(.get, "/")
        }
        // 21 requests have counted; unknown paths and health have not.
        for response in [
            await api.call(.get, "/api/domains"), await api.call(.post, "/api/v1/challenge"),
            await api.call(.get, "/", headers: [("Accept", "application/json")]),
        ] {
            #expect(response.status == .tooManyRequests)
            #expect(response.header("RateLimit-Limit") == "20")
        }
    }
}
