import Networking
import TestSupport
import Testing

@testable import AuthCore

struct CreationIntervalTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    /// Of a server of its own on the one database.
    private func server(
        _ rate: RateLimiter.Rate = RateLimiter.Rate(1, per: .seconds(8)), isEnabled: Bool = true
    ) -> CreationInterval {
        let settings = RateLimiter.Settings(isEnabled: isEnabled, rates: [.creation: rate])
        return CreationInterval(
            RateLimiter(settings: settings), ledger: world.stores.challenges)
    }

    private func caller(_ address: String) throws -> Caller {
        Caller(
            address: try #require(IPAddress(address)), requestID: "r", now: world.clock.now,
            arrival: .now)
    }

    @Test func oneIntervalOfAClientIsBegunAtATimeOnAllServers() async throws {
        let (one, other) = (server(), server())
        try await one.begin(for: try caller("192.0.2.7"))
        await #expect(throws: RateLimited(retryAfter: .seconds(8))) {
            try await other.begin(for: try caller("192.0.2.7"))
        }
        try await other.begin(for: try caller("192.0.2.8"))
        world.clock.advance(by: .seconds(7))
        await #expect(throws: RateLimited.self) {
            try await other.begin(for: try caller("192.0.2.7"))
        }
        world.clock.advance(by: .seconds(1))
        try await other.begin(for: try caller("192.0.2.7"))
    }

    /// The interval is stored as a time of the wall clock, which all servers share.
    @Test func settingTheClockBackEndsTheInterval() async throws {
        try await server().begin(for: try caller("192.0.2.7"))
        world.clock.stepBack(by: .seconds(3600))
        try await server().begin(for: try caller("192.0.2.7"))
        await #expect(throws: RateLimited.self) {
            try await server().begin(for: try caller("192.0.2.7"))
        }
    }

    @Test func theAddressesOfAnIPv6SlashSixtyFourAreOneClient() async throws {
        try await server().begin(for: try caller("2001:db8::1"))
        await #expect(throws: RateLimited.self) {
            try await server().begin(for: try caller("2001:db8::2"))
        }
        try await server().begin(for: try caller("2001:db8:0:1::1"))
    }

    @Test func anIntervalInWhichNothingWasCreatedIsCancelled() async throws {
        let (one, other) = (server(), server())
        try await one.begin(for: try caller("192.0.2.7"))
        await one.cancel(for: try caller("192.0.2.7"))
        try await other.begin(for: try caller("192.0.2.7"))
    }

    /// Where several may come at once, each server counts for itself.
    @Test func thereIsNoIntervalWithoutLimitsOrBelowASecond() async throws {
        let rate = RateLimiter.Rate(1, per: .milliseconds(100))
        for server in [server(isEnabled: false), server(rate)] {
            for _ in 0..<3 { try await server.begin(for: try caller("192.0.2.7")) }
        }
    }

    @Test func aSignupThatAnotherServerLimitsSpendsNothing() async throws {
        let one = try AgentWorld(stores: world.stores, limits: true)
        let other = try AgentWorld(stores: world.stores, limits: true)
        _ = try await one.signUp("first-agent")
        // Both worlds have the same random bytes: not the challenge that was spent.
        _ = try await other.solvedChallenge()
        let (challenge, proof) = try await other.solvedChallenge()
        let username = try Username(parsing: "second-agent")
        await #expect(throws: AgentError.self) {
            try await other.agents.signUp(
                username, challenge: challenge, proof: proof, by: other.caller)
        }
        other.clock.advance(by: .seconds(8))
        _ = try await other.agents.signUp(
            username, challenge: challenge, proof: proof, by: other.caller)
    }
}
