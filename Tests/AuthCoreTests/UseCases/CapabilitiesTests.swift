import Cryptography
import StrictJSON
import TestSupport
import Testing

@testable import AuthCore

/// Capabilities of agents and of mailboxes with a password, full and minimal.
struct CapabilitiesTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld { $0.capabilityClaims = .minimal }
    }

    private func capability(of session: Agents.OpenSession) async throws -> String {
        let presented = try await world.agents.authenticate(
            sessionOrEmail: session.token, at: world.clock.now)
        return try await world.agents.issueCapability(for: presented, by: world.caller).token
    }

    private func account(of capability: String) async throws -> Agents.MailAccount {
        try await world.agents.authenticate(capability: capability, at: world.clock.now)
    }

    private func expectInvalid(
        _ capability: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: AgentError.invalidCapability, sourceLocation: sourceLocation) {
            try await account(of: capability)
        }
    }

    private func mailbox() async throws -> Mailboxes.Opened {
        let user = try await world.addUser("owner@example.test")
        return try await world.mailboxes.create(
            Mailboxes.New(
                address: "demo@mail.test", secret: .password(Array("supersecret".utf8)),
                proof: nil),
            as: .user(user), by: world.caller)
    }

    private func event(_ kind: AuditEvent.Kind) -> AuditEvent {
        AuditEvent(kind, time: world.clock.now, actor: .operator, subject: "")
    }

    @Test func aMinimalCapabilityHasTwoHeaderMembersAndTwoClaims() async throws {
        let token = try await capability(of: try await world.signUp("myagent").session)
        let compact = try #require(CompactToken(token))
        #expect(compact.header.members.map(\.name) == ["alg", "typ"])
        #expect(compact.header.string("alg") == "RS256" && compact.header.string("typ") == "JWT")
        let claims = try #require(compact.claims)
        #expect(claims.members.map(\.name) == ["sub", "iat"])
        #expect(claims.string("sub") == "myagent@mail.test")
        #expect(claims.integer("iat") == world.clock.now.seconds)
    }

    @Test func aMinimalCapabilityIsValidForItsLifetime() async throws {
        let token = try await capability(of: try await world.signUp("myagent").session)
        world.clock.advance(by: .seconds(119))
        #expect(try await account(of: token).address.description == "myagent@mail.test")
        world.clock.advance(by: .seconds(1))
        await expectInvalid(token)
    }

    @Test func aMinimalCapabilityEndsWithItsAccount() async throws {
        let session = try await world.signUp("myagent").session
        let token = try await capability(of: session)
        let directory = world.stores.accountDirectory
        #expect(try await world.disable(session.account.id))
        await expectInvalid(token)
        _ = try await directory.setState(
            of: session.account.id, to: .active, recording: event(.accountEnabled))
        _ = try await account(of: token)
        _ = try await world.stores.accounts.delete(
            session.account.id, at: nil, recording: event(.accountDeleted))
        await expectInvalid(token)
        // The next holder of the address is somebody else.
        _ = try await directory.free(session.account.address, recording: event(.addressFreed))
        world.clock.advance(by: .seconds(1))
        _ = try await world.signUp("myagent")
        await expectInvalid(token)
    }

    @Test func aCapabilityOfALeakedKeyIsInvalid() async throws {
        let token = try await capability(of: try await world.signUp("myagent").session)
        _ = try await world.keys.rotate(.capability, grace: .zero)
        await expectInvalid(token)
    }

    @Test func aMinimalCapabilityIsNoFullOneAndHasNoExpiry() async throws {
        let token = try await capability(of: try await world.signUp("myagent").session)
        let now = world.clock.now
        #expect(try await world.tokens.verify(token, as: CapabilityToken.self, at: now) == nil)
        #expect(
            try await world.tokens.verify(token, as: MinimalCapabilityToken.self, at: now) == nil)
        let read = try await world.tokens.read(token, as: MinimalCapabilityToken.self, at: now)
        #expect(read?.token.subject == "myagent@mail.test" && read?.expiry == nil)
    }

    /// Otherwise leaving out what is checked would make an expired capability valid again.
    @Test func aFullCapabilityIsNoMinimalOne() async throws {
        let world = try AgentWorld(capabilityKeyID: false)
        let session = try await world.agents.authenticate(
            session: try await world.signUp("myagent").session.token, at: world.clock.now)
        let token = try await world.agents.issueCapability(for: session, by: world.caller).token
        let now = world.clock.now
        #expect(
            try await world.tokens.read(token, as: MinimalCapabilityToken.self, at: now) == nil)
    }

    @Test(arguments: [MailSubject.localPart, .accountID])
    func aMinimalCapabilityIsFoundByItsSubject(subject: MailSubject) async throws {
        let world = try AgentWorld(mailSubject: subject) { $0.capabilityClaims = .minimal }
        let opened = try await world.signUp("myagent").session
        let session = try await world.agents.authenticate(
            session: opened.token, at: world.clock.now)
        let token = try await world.agents.issueCapability(for: session, by: world.caller).token
        let account = try await world.agents.authenticate(capability: token, at: world.clock.now)
        #expect(account.address == opened.account.address)
        #expect(account.subject == (subject == .localPart ? "myagent" : opened.account.id.text))
    }

    @Test func anEmailJWTGetsACapabilityUntilItEnds() async throws {
        let mailbox = try await mailbox()
        let presented = try await world.agents.authenticate(
            sessionOrEmail: mailbox.token, at: world.clock.now)
        let token = try await world.agents.issueCapability(for: presented, by: world.caller).token
        #expect(try await account(of: token).address == mailbox.account.address)
        #expect(try await world.disable(mailbox.account.id))
        await #expect(throws: AgentError.invalidSession) {
            try await world.agents.authenticate(
                sessionOrEmail: mailbox.token, at: world.clock.now)
        }
    }

    @Test(arguments: ["", "no token", "a.b.c"])
    func nothingElseGetsACapability(token: String) async throws {
        await #expect(throws: AgentError.invalidSession) {
            try await world.agents.authenticate(sessionOrEmail: token, at: world.clock.now)
        }
        await #expect(throws: AgentError.invalidSession) {
            try await world.agents.authenticate(sessionOrEmail: nil, at: world.clock.now)
        }
        // An Email JWT is no session.
        let mailbox = try await mailbox()
        await #expect(throws: AgentError.invalidSession) {
            try await world.agents.authenticate(session: mailbox.token, at: world.clock.now)
        }
    }
}
