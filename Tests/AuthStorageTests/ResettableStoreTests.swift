import AuthCore
import Testing

/// What every engine guarantees about the removal of everything.
@Suite(.indexesAreUsed) struct ResettableStoreTests {
    @Test(arguments: Engine.allCases)
    func everythingIsRemovedButTheKeys(engine: Engine) async throws {
        let store = try await engine.open()
        let login = HashLogin(
            email: try email("a@example.com"), url: HashURL(text: "https://a.example"),
            created: .epoch)
        try await fill(store, login)
        #expect(try await store.delete(accountID(2), at: nil))

        try await store.removeEverything()
        #expect(try await store.accounts(after: nil, limit: 9).isEmpty)
        #expect(try await store.users(after: nil, limit: 9).isEmpty)
        #expect(try await store.token(digest: digest(1)) == nil)
        #expect(try await store.holder(of: sessionID(1)) == nil)
        #expect(try await store.domains(after: nil, limit: 9).isEmpty)
        #expect(try await store.hashLogins(after: nil, limit: 9).isEmpty)
        #expect(try await store.events(after: nil, limit: 99).isEmpty)
        #expect(try await store.accountEvents(after: 0, limit: 99).isEmpty)
        #expect(try await store.keys().map(\.id) == ["k"])
        // Also the address of the deleted account, and the challenge that was spent.
        try await fill(store, login)
        try await store.removeEverything()
    }

    @Test(arguments: Engine.allCases)
    func numbersOfEventsGoOn(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        let event = try #require(try await store.latestEvents(limit: 1).first)
        let change = try await store.accountEvents(after: 0, limit: 1)
        #expect(change.map(\.number) == [1])
        try await store.removeEverything()
        #expect(try await store.insert(account(1)))
        let next = try #require(try await store.latestEvents(limit: 1).first)
        #expect(next.sequence > event.sequence)
        #expect(try await store.accountEvents(after: 1, limit: 9).map(\.number) == [2])
    }

    @Test(arguments: Engine.allCases)
    func anEmptyStoreCanBeEmptied(engine: Engine) async throws {
        let store = try await engine.open()
        for _ in 0..<2 { try await store.removeEverything() }
        #expect(try await store.keys().isEmpty)
    }

    private func fill(_ store: any EngineStore, _ login: HashLogin) async throws {
        #expect(try await store.insert(user(1)))
        #expect(try await store.insert(account(1, owner: userID(1))))
        #expect(try await store.insert(account(2)))
        #expect(try await store.insert(token(1)))
        #expect(try await store.insert(session(1)))
        let identity = Identity(
            id: IdentityID(random: [UInt8](repeating: 1, count: 16)), owner: userID(1),
            provider: "id", issuer: "https://id.test", subject: "1", email: nil, created: .epoch)
        #expect(
            try await store.insert(identity, at: 1, recording: event(.identityLinked))
                == .inserted)
        #expect(try await store.insert(domain(1)) == .inserted)
        #expect(try await store.insert(login, recording: event(.hashLoginCreated)))
        #expect(try await store.spend("challenge", expiry: .epoch))
        _ = try await store.insertFirst(key("k"))
    }
}
