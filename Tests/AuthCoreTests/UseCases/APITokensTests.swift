import AuthCore
import TestSupport
import Testing

struct APITokensTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    private func create(
        _ name: String = "ci", lifetime: Duration? = nil, for user: User
    ) async throws -> APITokens.Issued {
        try await world.apiTokens.create(
            named: name, lifetime: lifetime, for: user, by: world.caller)
    }

    @Test func aTokenIsStoredByItsDigestOnly() async throws {
        let user = try await world.addUser("ada@example.test")
        let issued = try await create("ci", lifetime: .seconds(60), for: user)
        #expect(issued.secret.hasPrefix("tm_pro_") && issued.secret.utf8.count == 7 + 43)
        let stored = try #require(
            try await world.stores.apiTokens.holder(digest: issued.token.digest))
        #expect(stored.token == issued.token && stored.owner.id == user.id)
        #expect(!"\(stored)".contains(issued.secret))
        #expect(issued.token.name == "ci" && issued.token.owner == user.id)
        #expect(issued.token.created == world.clock.now)
        #expect(issued.token.expiry == world.clock.now.advanced(by: .seconds(60)))
        #expect(try await create(for: user).token.expiry == nil)
    }

    @Test func eachUserListsAndRevokesTheirOwnTokens() async throws {
        let user = try await world.addUser("ada@example.test")
        let other = try await world.addUser("other@example.test")
        let issued = try await create(for: user)
        #expect(try await world.apiTokens.list(of: other).isEmpty)
        await #expect(throws: AccountsError.notFound) {
            try await world.apiTokens.revoke(issued.token.id, of: other, by: world.caller)
        }
        try await world.apiTokens.revoke(issued.token.id, of: user, by: world.caller)
        let listed = try await world.apiTokens.list(of: user)
        #expect(listed.map(\.id) == [issued.token.id])
        #expect(listed.map(\.revoked) == [world.clock.now])
    }

    @Test func aTokenCanBeRevokedOnce() async throws {
        let user = try await world.addUser("ada@example.test")
        let issued = try await create(for: user)
        try await world.apiTokens.revoke(issued.token.id, of: user, by: world.caller)
        for id in [issued.token.id, nil] {
            await #expect(throws: AccountsError.notFound) {
                try await world.apiTokens.revoke(id, of: user, by: world.caller)
            }
        }
    }

    @Test func aHundredTokensAreTheMost() async throws {
        let user = try await world.addUser("ada@example.test")
        for _ in 0..<100 { _ = try await create(for: user) }
        await #expect(throws: AccountsError.tokenLimitReached) { try await create(for: user) }
        _ = try await create(for: try await world.addUser("other@example.test"))
    }

    @Test func creationAndRevocationAreRecordedByTheIDOfTheToken() async throws {
        let user = try await world.addUser("ada@example.test")
        let issued = try await create(for: user)
        try await world.apiTokens.revoke(issued.token.id, of: user, by: world.caller)
        let expected = [AuditEvent.Kind.tokenCreated, .tokenRevoked].map { kind in
            AuditEvent(
                kind, by: world.caller, actor: .user(user.id), subject: issued.token.id.text)
        }
        #expect(try await Array(world.events.dropFirst()) == expected)
    }
}
