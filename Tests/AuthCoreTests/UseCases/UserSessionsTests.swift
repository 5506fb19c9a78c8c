import AuthCore
import Networking
import StrictJSON
import TestSupport
import Testing

struct UserSessionsTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    private func open(
        _ user: User, by method: UserSession.Method = .password, agent: String? = "Browser/1.0",
        caller: Caller? = nil
    ) async throws -> String {
        try await world.userSessions.open(
            user, by: method, agent: agent, for: caller ?? world.caller
        ).token
    }

    private func session(_ token: String) async throws -> UserSession? {
        try await world.authenticator.grant(of: token, at: world.clock.now)?.userSession
    }

    private func expectInvalid(
        _ token: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: AccountsError.invalidToken, sourceLocation: sourceLocation) {
            try await session(token)
        }
    }

    @Test func aSessionShowsWhereAndHowItWasOpened() async throws {
        let user = try await world.addUser("ada@example.test")
        let caller = Caller(
            address: try #require(IPAddress("2001:db8:1:2:3:4:5:6")), requestID: "r",
            now: world.clock.now, arrival: world.clock.monotonic)
        let token = try await open(user, by: .provider("google"), caller: caller)
        let opened = try #require(try await session(token))
        #expect(opened.owner == user.id && opened.method == .provider("google"))
        #expect(opened.client == "2001:db8:1:2::/64")
        #expect(opened.agent == "Browser/1.0")
        #expect(opened.created == world.clock.now && opened.authenticated == world.clock.now)
        #expect(opened.expiry == world.clock.now.advanced(by: .seconds(604_800)))
        #expect(try await world.userSessions.list(of: user, at: world.clock.now) == [opened])
        let event = try #require(try await world.events.last)
        #expect(event.kind == .loginSucceeded && event.subject == "ada@example.test")
        #expect(event.actor == .user(user.id))
    }

    @Test func theAgentIsBoundedPrintableText() async throws {
        let user = try await world.addUser("ada@example.test")
        let long = String(repeating: "a", count: 199)
        let cases: [(String?, String)] = [
            (nil, ""), ("", ""), ("a\u{1b}[31mb\r\nc\u{7f}\u{e9}", "a[31mbc"),
            (long + "\u{1}bc", long + "b"), (String(repeating: "a", count: 100_000), long + "a"),
        ]
        for (sent, stored) in cases {
            let token = try await open(user, agent: sent)
            #expect(try await session(token)?.agent == stored)
        }
    }

    @Test func aUserThatHasChangedMeanwhileGetsNoSession() async throws {
        let user = try await world.addUser("ada@example.test")
        try await world.users.logOut(user, by: world.caller)
        let before = try await world.events.count
        await #expect(throws: AccountsError.invalidCredentials) { try await open(user) }
        #expect(try await world.events.count == before)
    }

    @Test func aUserHasAHundredSessions() async throws {
        let user = try await world.addUser("ada@example.test")
        let first = try await open(user)
        var second: String?
        for _ in 0..<100 {
            world.clock.advance(by: .seconds(1))
            let token = try await open(user)
            second = second ?? token
        }
        await expectInvalid(first)
        #expect(try await session(try #require(second)) != nil)
        #expect(try await world.userSessions.list(of: user, at: world.clock.now).count == 100)
    }

    @Test func anEndedSessionGivesNoMoreAccessAndTheOthersDo() async throws {
        let user = try await world.addUser("ada@example.test")
        let other = try await world.addUser("eve@example.test")
        let (first, second) = (try await open(user), try await open(user))
        let id = try #require(try await session(first)).id
        for (id, owner) in [(nil, user), (id, other)] {
            await #expect(throws: AccountsError.notFound) {
                try await world.userSessions.end(id, of: owner, by: world.caller)
            }
        }
        try await world.userSessions.end(id, of: user, by: world.caller)
        await expectInvalid(first)
        #expect(try await session(second) != nil)
        let event = try #require(try await world.events.last)
        #expect(event.kind == .sessionEnded && event.subject == id.text)
        await #expect(throws: AccountsError.notFound) {
            try await world.userSessions.end(id, of: user, by: world.caller)
        }
    }

    @Test func theOthersAreEndedAndTheCurrentOneStays() async throws {
        let user = try await world.addUser("ada@example.test")
        let (current, first, second) = (
            try await open(user), try await open(user), try await open(user)
        )
        for count in [1, 0] {
            let before = try await world.events.count
            try await world.userSessions.endOthers(
                than: try #require(try await session(current)), of: user, by: world.caller)
            #expect(try await world.events.count == before + count)
        }
        await expectInvalid(first)
        await expectInvalid(second)
        let event = try #require(try await world.events.last)
        #expect(event.kind == .otherSessionsEnded && event.subject == "ada@example.test")
    }

    @Test func theUseOfASessionIsNotedAtMostOnceAMinute() async throws {
        let user = try await world.addUser("ada@example.test")
        let token = try await open(user)
        let first = world.clock.now
        func lastUse() async throws -> Instant? {
            _ = try await session(token)
            return try await world.userSessions.list(of: user, at: first).first?.lastUsed
        }
        world.clock.advance(by: .seconds(60))
        #expect(try await lastUse() == first)
        world.clock.advance(by: .milliseconds(1))
        #expect(try await lastUse() == world.clock.now)
    }

    @Test func aLoginIsRecentForTenMinutes() async throws {
        let user = try await world.addUser("ada@example.test")
        let token = try await open(user)
        world.clock.advance(by: .milliseconds(599_999))
        try #require(try await session(token)).requireRecentLogin(at: world.clock.now)
        world.clock.advance(by: .milliseconds(1))
        let opened = try #require(try await session(token))
        #expect(throws: AccountsError.recentLoginRequired) {
            try opened.requireRecentLogin(at: world.clock.now)
        }
    }

    /// A Pro JWT from before sessions were stored: its `jti` is no session.
    @Test(arguments: ["q83vAAECAwQFBgcICQoLDA", "00000000-0000-4000-8000-000000000000"])
    func aTokenWithoutASessionIsInvalid(id: String) async throws {
        let user = try await world.addUser("ada@example.test")
        let old = OldProToken(id: id, user: user)
        await expectInvalid(
            try await world.tokens.sign(old, lifetime: .seconds(60), for: world.caller))
    }
}

private struct OldProToken: TokenKind {
    static let use = ProToken.use
    static let type = ProToken.type
    static func audience(in realm: Realm) -> String? { ProToken.audience(in: realm) }

    let id: String
    let user: User

    init(id: String, user: User) {
        self.id = id
        self.user = user
    }

    init?(claims: JSONObject) { nil }

    func write(to claims: inout JSONWriter) {
        claims.member("sub", user.id.text)
        claims.member("ver", user.credentialVersion)
        claims.member("jti", id)
    }
}
