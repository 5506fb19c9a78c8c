import AuthCore
import TestSupport
import Testing

/// What an agent does with an open session: capabilities, a new API key, deleting the account.
struct AgentSessionsTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    @Test func aDisabledAccountHasNoValidTokenAndNoLogin() async throws {
        let (session, key) = try await world.signUp("myagent")
        let presented = try await world.agents.authenticate(
            session: session.token, at: world.clock.now)
        let capability = try await world.agents.issueCapability(for: presented, by: world.caller)
        #expect(
            try await world.stores.accountDirectory.setState(
                of: session.account.id, to: .disabled,
                recording: AuditEvent(
                    .accountDisabled, time: world.clock.now, actor: .operator, subject: "")))
        await expect(.invalidSession) {
            _ = try await world.agents.authenticate(session: session.token, at: world.clock.now)
        }
        await expect(.invalidCapability) {
            _ = try await world.agents.authenticate(
                capability: capability.token, at: world.clock.now)
        }
        await expect(.unknownAPIKey) { _ = try await world.logIn(key) }
        let failed = try #require(try await world.events.last)
        #expect(failed.kind == .loginFailed && failed.actor == .anonymous)
        #expect(failed.subject == "myagent@mail.test")
    }

    @Test func aNewAPIKeyEndsTheOldOneAndEverySession() async throws {
        let (session, old) = try await world.signUp("myagent")
        let presented = try await world.agents.authenticate(
            session: session.token, at: world.clock.now)
        let new = try await world.agents.renewAPIKey(of: presented, by: world.caller)
        await expect(.invalidSession) {
            _ = try await world.agents.authenticate(session: session.token, at: world.clock.now)
        }
        await expect(.invalidSession) {
            _ = try await world.agents.renewAPIKey(of: presented, by: world.caller)
        }
        await expect(.unknownAPIKey) { _ = try await world.logIn(old) }
        #expect(try await world.logIn(new).account.id == session.account.id)
    }

    @Test func aDeletedAccountHasNoLoginAndItsAddressStaysTakenUntilItIsFreed() async throws {
        let (session, key) = try await world.signUp("myagent")
        let presented = try await world.agents.authenticate(
            session: session.token, at: world.clock.now)
        try await world.agents.deleteAccount(of: presented, by: world.caller)
        await expect(.invalidSession) {
            _ = try await world.agents.authenticate(session: session.token, at: world.clock.now)
        }
        await expect(.unknownAPIKey) { _ = try await world.logIn(key) }
        await expect(.usernameTaken) { _ = try await world.signUp("myagent") }
        #expect(
            try await world.stores.accountDirectory.free(
                session.account.address,
                recording: AuditEvent(
                    .addressFreed, time: world.clock.now, actor: .operator, subject: "")))
        _ = try await world.signUp("myagent")
    }

    @Test func aSessionCanBeEndedOnce() async throws {
        let (session, _) = try await world.signUp("myagent")
        let presented = try await world.agents.authenticate(
            session: session.token, at: world.clock.now)
        try await world.agents.end(presented, by: world.caller)
        await expect(.invalidSession) {
            try await world.agents.end(presented, by: world.caller)
        }
    }

    @Test func ofTwoDeletionsWithOneSessionOneSucceeds() async throws {
        let (session, _) = try await world.signUp("myagent")
        let presented = try await world.agents.authenticate(
            session: session.token, at: world.clock.now)
        try await world.agents.deleteAccount(of: presented, by: world.caller)
        await expect(.invalidSession) {
            try await world.agents.deleteAccount(of: presented, by: world.caller)
        }
    }

    @Test func sessionsAndCapabilitiesAreValidForTheirConfiguredLifetimes() async throws {
        let world = try AgentWorld { settings in
            settings.sessionLifetime = .seconds(900)
            settings.capabilityLifetime = .seconds(60)
        }
        let (session, _) = try await world.signUp("myagent")
        let presented = try await world.agents.authenticate(
            session: session.token, at: world.clock.now)
        let capability = try await world.agents.issueCapability(for: presented, by: world.caller)
        #expect(capability.lifetime == .seconds(60))
        world.clock.advance(by: .seconds(59))
        _ = try await world.agents.authenticate(capability: capability.token, at: world.clock.now)
        world.clock.advance(by: .seconds(1))
        await expect(.invalidCapability) {
            _ = try await world.agents.authenticate(
                capability: capability.token, at: world.clock.now)
        }
        world.clock.advance(by: .seconds(839))
        _ = try await world.agents.authenticate(session: session.token, at: world.clock.now)
        world.clock.advance(by: .seconds(1))
        await expect(.invalidSession) {
            _ = try await world.agents.authenticate(session: session.token, at: world.clock.now)
        }
    }

    private func expect(
        _ error: AgentError, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        await #expect(throws: error, sourceLocation: sourceLocation) { try await body() }
    }
}
