import AuthCore
import TestSupport
import Testing

struct AuthenticatorTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    private func principal(_ token: String?) async throws -> Principal? {
        try await world.authenticator.grant(of: token, at: world.clock.now)?.principal
    }

    private func user(_ token: String) async throws -> UserID? {
        guard case .user(let user)? = try await principal(token) else { return nil }
        return user.id
    }

    private func expectInvalid(
        _ token: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: AccountsError.invalidToken, sourceLocation: sourceLocation) {
            try await principal(token)
        }
    }

    private func logIn() async throws -> UserSessions.Opened {
        try await world.users.logIn(
            email: "ada@example.test", password: Array("propassword".utf8), by: world.caller)
    }

    @Test func noTokenIsNoPrincipalAndNoError() async throws {
        #expect(try await principal(nil) == nil)
    }

    @Test(arguments: [
        "", "garbage", "a.b.c", "tm_pro_", "tm_pro_nothing",
        "tm_pro_" + String(repeating: "a", count: 10_000),
    ])
    func aTokenThatWasNotIssuedHereIsInvalid(token: String) async {
        await expectInvalid(token)
    }

    @Test func tokensOfTheAgentAPIAreInvalid() async throws {
        let issued = try await world.agents.issueChallenge(to: world.caller)
        let (session, _) = try await world.agents.signUp(
            Username(parsing: "myagent"),
            challenge: try await world.agents.authenticate(
                challenge: issued.token, at: world.clock.now),
            proof: try AgentWorld.solve(issued.challenge), by: world.caller)
        await expectInvalid(issued.token)
        await expectInvalid(session.token)
        let challenge = try await world.mailboxes.issueChallenge(to: world.caller)
        await expectInvalid(challenge.token)
    }

    @Test func anEmailJWTStandsForItsAccountAsItIsNow() async throws {
        let user = try await world.addUser("ada@example.test")
        let opened = try await world.mailboxes.create(
            Mailboxes.New(
                address: "demo@mail.test", secret: .authKey([UInt8](repeating: 1, count: 32)),
                proof: nil),
            as: .user(user), by: world.caller)
        let reported = UsageReport(address: opened.account.address, used: 7)
        _ = try await world.stores.accountDirectory.note([reported])
        guard case .account(let account)? = try await principal(opened.token) else {
            Issue.record("not an account")
            return
        }
        #expect(account.id == opened.account.id && account.used == 7)
        world.clock.advance(by: .seconds(604_799))
        #expect(try await principal(opened.token) != nil)
        world.clock.advance(by: .seconds(1))
        await expectInvalid(opened.token)
    }

    @Test func aNewPasswordEndsTheEmailJWTsOfItsMailbox() async throws {
        let user = try await world.addUser("ada@example.test")
        let secret = MailboxSecret.authKey([UInt8](repeating: 1, count: 32))
        func create(_ name: String) async throws -> Mailboxes.Opened {
            try await world.mailboxes.create(
                Mailboxes.New(address: "\(name)@mail.test", secret: secret, proof: nil),
                as: .user(user), by: world.caller)
        }
        let opened = try await create("demo")
        let other = try await create("other")
        let second = try await world.mailboxes.logIn(
            address: "demo@mail.test", secret: secret, by: world.caller)
        let access = try await world.mailboxes.access(
            to: .id(opened.account.id), as: .user(user))
        try await world.mailboxes.resetPassword(of: access, to: secret, by: world.caller)
        await expectInvalid(opened.token)
        await expectInvalid(second.token)
        #expect(try await principal(other.token) != nil)
    }

    @Test func aProJWTIsValidForSevenDays() async throws {
        let user = try await world.addUser("ada@example.test")
        let token = try await logIn().token
        world.clock.advance(by: .seconds(604_799))
        #expect(try await self.user(token) == user.id)
        world.clock.advance(by: .seconds(1))
        await expectInvalid(token)
    }

    @Test func anAPITokenIsValidUntilItExpiresOrIsRevoked() async throws {
        let user = try await world.addUser("ada@example.test")
        let brief = try await world.apiTokens.create(
            named: "a", lifetime: .seconds(60), for: user, by: world.caller)
        let lasting = try await world.apiTokens.create(
            named: "b", lifetime: nil, for: user, by: world.caller)
        world.clock.advance(by: .milliseconds(59_999))
        #expect(try await self.user(brief.secret) == user.id)
        world.clock.advance(by: .milliseconds(1))
        await expectInvalid(brief.secret)
        world.clock.advance(by: .seconds(10 * 365 * 86_400))
        #expect(try await self.user(lasting.secret) == user.id)
        try await world.apiTokens.revoke(lasting.token.id, of: user, by: world.caller)
        await expectInvalid(lasting.secret)
    }

    @Test func theUseOfAnAPITokenIsNotedAtMostOnceAMinute() async throws {
        let user = try await world.addUser("ada@example.test")
        let secret = try await world.apiTokens.create(
            named: "a", lifetime: nil, for: user, by: world.caller
        ).secret
        func lastUse() async throws -> Instant? {
            try await world.apiTokens.list(of: user).first?.lastUsed
        }
        #expect(try await lastUse() == nil)
        let first = world.clock.now
        _ = try await principal(secret)
        #expect(try await lastUse() == first)
        world.clock.advance(by: .seconds(60))
        _ = try await principal(secret)
        #expect(try await lastUse() == first)
        world.clock.advance(by: .milliseconds(1))
        _ = try await principal(secret)
        #expect(try await lastUse() == world.clock.now)
    }

    @Test func disablingAUserEndsEveryTokenAndEnablingRevivesAPITokensOnly() async throws {
        let user = try await world.addUser("ada@example.test")
        let jwt = try await logIn().token
        let apiToken = try await world.apiTokens.create(
            named: "a", lifetime: nil, for: user, by: world.caller
        ).secret
        #expect(try await self.user(jwt) == user.id)
        #expect(try await self.user(apiToken) == user.id)
        func setState(_ state: User.State, _ kind: AuditEvent.Kind) async throws {
            let event = AuditEvent(
                kind, by: world.caller, actor: .operator, subject: "ada@example.test")
            _ = try await world.stores.userDirectory.setState(
                of: user.id, to: state, recording: event)
        }
        try await setState(.disabled, .userDisabled)
        await expectInvalid(jwt)
        await expectInvalid(apiToken)
        await #expect(throws: AccountsError.invalidCredentials) { try await logIn() }
        try await setState(.active, .userEnabled)
        await expectInvalid(jwt)
        #expect(try await self.user(apiToken) == user.id)
    }

    @Test func aStoreThatFailsIsAFailureAndNotAnInvalidToken() async throws {
        let user = try await world.addUser("ada@example.test")
        let token = try await world.mailboxes.create(
            Mailboxes.New(
                address: "demo@mail.test", secret: .authKey([UInt8](repeating: 1, count: 32)),
                proof: nil),
            as: .user(user), by: world.caller
        ).token
        let accounts = FailingAccounts(world.stores.accounts, BrokenStore())
        let broken = try AgentWorld(stores: world.stores, accounts: accounts)
        await #expect(throws: AccountsError.common(.failed(BrokenStore()))) {
            try await broken.authenticator.grant(of: token, at: broken.clock.now)?.principal
        }
        accounts.error = StoreBusy()
        await #expect(throws: AccountsError.common(.busy(retryAfter: .seconds(1)))) {
            try await broken.authenticator.grant(of: token, at: broken.clock.now)?.principal
        }
    }
}
