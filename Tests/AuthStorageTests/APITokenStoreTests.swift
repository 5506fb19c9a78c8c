import AuthCore
import AuthStorage
import Testing

/// What every engine guarantees about API tokens.
@Suite(.indexesAreUsed) struct APITokenStoreTests {
    private func withUsers(_ engine: Engine) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        return store
    }

    @Test(arguments: Engine.allCases)
    func everyFieldIsStoredAndRead(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let full = APIToken(
            id: tokenID(1), owner: userID(1), name: "caf\u{e9} \u{1f511}\n'", digest: digest(1),
            scopes: [.tokens, .accounts], created: Instant(milliseconds: -5),
            expiry: Instant(milliseconds: .max),
            lastUsed: .epoch, revoked: Instant(milliseconds: 7))
        #expect(try await store.insert(full))
        #expect(try await store.insert(token(2)))
        #expect(try await store.token(digest: digest(1)) == full)
        #expect(try await store.token(digest: digest(2)) == token(2))
        #expect(try await store.token(digest: digest(3)) == nil)
    }

    @Test(arguments: Engine.allCases)
    func aTokenIsReadWithTheCurrentStateOfItsOwner(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(token(1)))
        #expect(try await store.holder(digest: digest(1))?.owner == user(1))
        #expect(
            try await store.setState(
                of: userID(1), to: .disabled, recording: event(.userDisabled)))
        #expect(try await store.holder(digest: digest(1))?.owner.state == .disabled)
    }

    @Test(arguments: Engine.allCases)
    func aTokenOfAnUnknownOwnerIsNotInserted(engine: Engine) async throws {
        let store = try await engine.open()
        for issuer in [APIToken.Issuer.session(version: 1), .token(tokenID(2))] {
            #expect(
                try await store.insert(token(1), by: issuer, limit: 9, recording: event())
                    == .issuerEnded)
        }
        #expect(try await store.token(digest: digest(1)) == nil)
        #expect(try await store.subjects.isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func whatHasEndedAddsNoToken(engine: Engine) async throws {
        let store = try await withUsers(engine)
        func add(_ number: Int, by issuer: APIToken.Issuer) async throws -> APITokenInsertion {
            try await store.insert(token(number), by: issuer, limit: 9, recording: event())
        }
        #expect(try await add(1, by: .session(version: 1)) == .inserted)
        #expect(try await add(2, by: .token(tokenID(1))) == .inserted)
        // A token of another owner.
        #expect(try await store.insert(token(3, of: 2)))
        #expect(try await add(4, by: .token(tokenID(3))) == .issuerEnded)
        #expect(try await store.revoke(tokenID(1), of: userID(1), at: 9))
        #expect(try await add(4, by: .token(tokenID(1))) == .issuerEnded)
        #expect(try await store.endSessions(of: userID(1), at: 1))
        #expect(try await add(4, by: .session(version: 1)) == .issuerEnded)
        #expect(try await add(4, by: .session(version: 2)) == .inserted)
        #expect(
            try await store.setState(
                of: userID(1), to: .disabled, recording: event(.userDisabled)))
        for version in 1...4 {
            #expect(try await add(5, by: .session(version: Int64(version))) == .issuerEnded)
        }
        #expect(try await store.tokens(of: userID(1)).count == 3)
    }

    @Test(arguments: Engine.allCases)
    func aDigestOrAnIdInUseIsNotInsertedAgain(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(token(1)))
        let sameDigest = APIToken(
            id: tokenID(2), owner: userID(2), name: "", digest: digest(1), created: .epoch)
        let sameID = APIToken(
            id: tokenID(1), owner: userID(2), name: "", digest: digest(2), created: .epoch)
        #expect(try await !store.insert(sameDigest))
        #expect(try await !store.insert(sameID))
        #expect(try await store.tokens(of: userID(2)).isEmpty)
        #expect(try await store.token(digest: digest(1)) == token(1))
    }

    @Test(arguments: Engine.allCases)
    func onlyTokensThatAreNotRevokedCountAgainstTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 1...2 {
            #expect(try await store.insert(token(number), limit: 2, recording: event()))
        }
        #expect(try await !store.insert(token(3), limit: 2, recording: event()))
        #expect(try await store.insert(token(4, of: 2), limit: 2, recording: event()))
        #expect(try await store.revoke(tokenID(1), of: userID(1), at: 9))
        #expect(try await store.insert(token(3), limit: 2, recording: event()))
        for limit in [0, -1, .min] {
            #expect(try await !store.insert(token(5, of: 2), limit: limit, recording: event()))
        }
    }

    @Test(arguments: Engine.allCases)
    func concurrentInsertsCannotExceedTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let won = try await winners(of: 50) { number in
            try await store.insert(token(number), limit: 5, recording: event())
        }
        #expect(won == 5)
        #expect(try await store.tokens(of: userID(1)).count == 5)
    }

    @Test(arguments: Engine.allCases)
    func aTokenIsRevokedOnceByItsOwnerAndCanStillBeRead(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(token(1)))
        #expect(try await !store.revoke(tokenID(1), of: userID(2), at: 5))
        #expect(try await !store.revoke(tokenID(2), of: userID(1), at: 5))
        #expect(try await store.token(digest: digest(1)) == token(1))
        #expect(try await store.revoke(tokenID(1), of: userID(1), at: 5))
        #expect(try await !store.revoke(tokenID(1), of: userID(1), at: 6))
        #expect(try await store.token(digest: digest(1)) == token(1, revoked: 5))
        #expect(try await store.tokens(of: userID(1)) == [token(1, revoked: 5)])
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentRevocationsExactlyOneRevokes(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(token(1)))
        let won = try await winners(of: 50) { number in
            try await store.revoke(tokenID(1), of: userID(1), at: Int64(number))
        }
        #expect(won == 1)
    }

    @Test(arguments: Engine.allCases)
    func tokensAreListedOldestFirst(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let all = [
            token(3, created: 30), token(1, created: 50), token(2, created: 30),
            token(4, created: 40, revoked: 99),
        ]
        for one in all { #expect(try await store.insert(one)) }
        #expect(try await store.insert(token(9, of: 2)))
        #expect(try await store.tokens(of: userID(1)) == [all[2], all[0], all[3], all[1]])
        #expect(try await store.tokens(of: userID(3)).isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func allActiveAndTheLatestHundredRevokedTokensAreListed(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 0..<105 {
            #expect(try await store.insert(token(number, revoked: Int64(1000 + number))))
        }
        for number in 200..<303 { #expect(try await store.insert(token(number))) }
        let listed = try await store.tokens(of: userID(1))
        #expect(listed.map(\.id) == (5..<105).map(tokenID) + (200..<303).map(tokenID))
        // The oldest token is among the latest revoked ones when it was revoked last.
        #expect(try await store.insert(token(400, created: -1)))
        #expect(try await store.revoke(tokenID(400), of: userID(1), at: 5000))
        let after = try await store.tokens(of: userID(1))
        #expect(after.first?.id == tokenID(400))
        #expect(after.count == 203)
    }

    @Test(arguments: Engine.allCases)
    func expiredTokensDoNotCountAgainstTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        func expiring(_ number: Int, created: Int64, expiry: Int64?) -> APIToken {
            APIToken(
                id: tokenID(number), owner: userID(1), name: "", digest: digest(number),
                created: Instant(milliseconds: created),
                expiry: expiry.map(Instant.init(milliseconds:)))
        }
        let soon = expiring(1, created: 0, expiry: 100)
        let late = expiring(2, created: 0, expiry: 200)
        for one in [soon, late] {
            #expect(try await store.insert(one, limit: 2, recording: event()))
        }
        let early = expiring(3, created: 99, expiry: nil)
        #expect(try await !store.insert(early, limit: 2, recording: event()))
        let next = expiring(4, created: 100, expiry: nil)
        #expect(try await store.insert(next, limit: 2, recording: event()))
        #expect(try await store.tokens(of: userID(1)).map(\.id) == [1, 2, 4].map(tokenID))
    }

    @Test(arguments: Engine.allCases)
    func onlyTheLatestHundredEndedTokensAreKept(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(token(999, of: 2, revoked: 0)))
        for number in 0..<60 {
            #expect(try await store.insert(token(number, revoked: Int64(1000 + number))))
            let expired = APIToken(
                id: tokenID(500 + number), owner: userID(1), name: "",
                digest: digest(500 + number), created: Instant(milliseconds: 0),
                expiry: Instant(milliseconds: Int64(1000 + number)))
            #expect(try await store.insert(expired))
        }
        // All 120 have ended now, and the next insertion removes the oldest.
        let live = token(700, created: 5000)
        #expect(try await store.insert(live, limit: 1, recording: event()))
        for number in 0..<60 {
            let isKept = number >= 10
            for id in [number, 500 + number] {
                #expect(try await (store.token(digest: digest(id)) != nil) == isKept, "\(id)")
            }
        }
        #expect(try await store.token(digest: digest(700)) == live)
        // Tokens of another owner are kept.
        #expect(try await store.token(digest: digest(999)) != nil)
    }

    @Test(arguments: Engine.allCases)
    func aUseIsRecordedUnlessOneWasRecordedSince(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(token(1)))
        func use(at now: Int64, since: Int64) async throws -> Int64? {
            try await store.noteUse(
                of: tokenID(1), at: Instant(milliseconds: now),
                unlessSince: Instant(milliseconds: since))
            return try await store.token(digest: digest(1))?.lastUsed?.milliseconds
        }
        #expect(try await use(at: 100, since: 40) == 100)
        #expect(try await use(at: 130, since: 70) == 100)
        #expect(try await use(at: 160, since: 100) == 100)
        #expect(try await use(at: 161, since: 101) == 161)
        try await store.noteUse(of: tokenID(2), at: .epoch, unlessSince: .epoch)
        #expect(try await store.token(digest: digest(2)) == nil)
    }
}
