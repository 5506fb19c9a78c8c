import AuthCore
import Testing

/// What every engine guarantees about Pro users.
@Suite(.indexesAreUsed) struct UserStoreTests {
    @Test(arguments: Engine.allCases)
    func aUserIsFoundByIDAndEmail(engine: Engine) async throws {
        let store = try await engine.open()
        let one = try user(1, "a.b+c'd@example.test", state: .disabled)
        #expect(try await store.insert(one))
        #expect(try await store.insert(user(2)))
        #expect(try await store.user(id: one.id) == one)
        #expect(try await store.user(email: one.email) == one)
        #expect(try await store.user(id: userID(3)) == nil)
        #expect(try await store.user(email: email("other@example.test")) == nil)
    }

    @Test(arguments: Engine.allCases)
    func aUserMayHaveNoPasswordAndAVerifiedEmail(engine: Engine) async throws {
        let store = try await engine.open()
        var one = User(
            id: userID(1), email: try email("a@example.test"), password: nil, created: .epoch,
            emailVerified: Instant(milliseconds: 7))
        #expect(try await store.insert(one))
        #expect(try await store.user(id: one.id) == one)
        #expect(try await store.users(after: nil, limit: 9) == [one])
        #expect(try await !store.rehash(one.id, from: hash(""), to: hash("new")))
        #expect(try await store.replacePassword(of: one.id, at: 1, with: hash("first")))
        one.password = hash("first")
        one.credentialVersion = 2
        #expect(try await store.user(email: one.email) == one)
    }

    @Test(arguments: Engine.allCases)
    func anEmailOrAnIdBelongsToOneUser(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        #expect(try await !store.insert(user(2, "user1@example.test")))
        #expect(try await !store.insert(user(1, "other@example.test")))
        #expect(try await store.user(email: email("user1@example.test")) == user(1))
        #expect(try await store.users(after: nil, limit: 10) == [user(1)])
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentInsertsOfOneEmailOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        let won = try await winners(of: 50) { number in
            try await store.insert(user(number, "wanted@example.test"))
        }
        #expect(won == 1)
        #expect(try await store.users(after: nil, limit: 100).count == 1)
    }

    @Test(arguments: Engine.allCases)
    func aNewPasswordIncreasesTheVersion(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        #expect(try await store.replacePassword(of: userID(1), at: 1, with: hash("new")))
        var expected = try user(1)
        expected.password = hash("new")
        expected.credentialVersion = 2
        #expect(try await store.user(id: userID(1)) == expected)
    }

    @Test(arguments: Engine.allCases)
    func aPasswordIsReplacedOnlyAtItsVersionAndOfAnActiveUser(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        #expect(try await store.insert(user(2, state: .disabled)))
        for version: Int64 in [0, 2, -1, .max, .min] {
            #expect(
                try await !store.replacePassword(of: userID(1), at: version, with: hash("new")))
            #expect(try await !store.endSessions(of: userID(1), at: version))
        }
        #expect(try await !store.replacePassword(of: userID(2), at: 1, with: hash("new")))
        #expect(try await !store.replacePassword(of: userID(3), at: 1, with: hash("new")))
        #expect(try await !store.endSessions(of: userID(3), at: 1))
        #expect(try await store.user(id: userID(1)) == user(1))
        #expect(try await store.user(id: userID(2)) == user(2, state: .disabled))
    }

    @Test(arguments: Engine.allCases)
    func aReplacementRevokesTokensWhenAsked(engine: Engine) async throws {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        for number in 1...2 { #expect(try await store.insert(token(number))) }
        #expect(try await store.insert(token(3, revoked: 5)))
        #expect(try await store.insert(token(4, of: 2)))
        for version in [Int64(2), 1] {
            let isReplaced = try await store.replacePassword(
                of: userID(1), at: version, with: hash("new"), revokingTokens: true,
                recording: event(.credentialReset, "reset", time: 9))
            #expect(isReplaced == (version == 1))
        }
        let revoked = try await store.tokens(of: userID(1)).map(\.revoked?.milliseconds)
        #expect(revoked == [9, 9, 5])
        #expect(try await store.token(digest: digest(4))?.revoked == nil)
        let events = try await store.events(after: nil, limit: 100).map(\.event)
        #expect(
            Set(events.filter { $0.kind == .tokenRevoked }.map(\.subject))
                == [tokenID(1).text, tokenID(2).text])
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentReplacementsAtOneVersionOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        let won = try await winners(of: 50) { number in
            try await store.replacePassword(of: userID(1), at: 1, with: hash("new \(number)"))
        }
        #expect(won == 1)
        #expect(try await store.user(id: userID(1))?.credentialVersion == 2)
    }

    @Test(arguments: Engine.allCases)
    func ofAReplacementAndALogoutAtOneVersionOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        for round in 0..<20 {
            #expect(try await store.insert(user(round)))
            let won = try await winners(of: 10) { side in
                if side % 2 == 0 { return try await store.endSessions(of: userID(round), at: 1) }
                return try await store.replacePassword(
                    of: userID(round), at: 1, with: hash("new"))
            }
            #expect(won == 1)
            #expect(try await store.user(id: userID(round))?.credentialVersion == 2)
        }
    }

    @Test(arguments: Engine.allCases)
    func aRehashKeepsTheVersionAndReplacesOnlyTheOldHash(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        #expect(try await !store.rehash(userID(1), from: hash("wrong"), to: hash("new")))
        #expect(try await !store.rehash(userID(2), from: hash("1"), to: hash("new")))
        #expect(try await store.user(id: userID(1)) == user(1))
        #expect(try await store.rehash(userID(1), from: hash("1"), to: hash("new")))
        var expected = try user(1)
        expected.password = hash("new")
        #expect(try await store.user(id: userID(1)) == expected)
    }

    @Test(arguments: Engine.allCases)
    func aRehashNeverUndoesAReplacement(engine: Engine) async throws {
        let store = try await engine.open()
        for round in 0..<20 {
            #expect(try await store.insert(user(round)))
            _ = try await winners(of: 2) { side in
                if side == 0 {
                    return try await store.rehash(
                        userID(round), from: hash("\(round)"), to: hash("same, newer"))
                }
                return try await store.replacePassword(
                    of: userID(round), at: 1, with: hash("replaced"))
            }
            #expect(try await store.user(id: userID(round))?.password == hash("replaced"))
        }
    }

    @Test(arguments: Engine.allCases)
    func disablingIncreasesTheVersionOnceAndEnablingKeepsIt(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        for _ in 0..<2 {
            #expect(try await store.setState(of: userID(1), to: User.State.disabled))
            let disabled = try #require(try await store.user(id: userID(1)))
            #expect(disabled.state == .disabled)
            #expect(disabled.credentialVersion == 2)
        }
        #expect(try await store.setState(of: userID(1), to: User.State.active))
        let enabled = try #require(try await store.user(id: userID(1)))
        #expect(enabled.state == .active)
        #expect(enabled.credentialVersion == 2)
        #expect(try await !store.setState(of: userID(2), to: User.State.disabled))
    }

    @Test(arguments: Engine.allCases)
    func usersAreListedInEmailOrderInPages(engine: Engine) async throws {
        let store = try await engine.open()
        let names = ["b@x.test", "a@x.test", "a+z@x.test", "a.z@x.test", "a@a.test", "a_@x.test"]
        for (number, name) in names.enumerated() {
            #expect(try await store.insert(user(number, name)))
        }
        var seen: [String] = []
        var last: Email?
        while let page = Optional(try await store.users(after: last, limit: 2)), !page.isEmpty {
            #expect(page.count <= 2)
            seen += page.map(\.email.text)
            last = page.last?.email
        }
        #expect(seen == names.sorted())
        #expect(try await store.users(after: email("b@a.test"), limit: 9).count == 1)
        for limit in [0, -1, .min] {
            #expect(try await store.users(after: nil, limit: limit).isEmpty)
        }
        #expect(try await store.users(after: nil, limit: .max).count == names.count)
    }
}
