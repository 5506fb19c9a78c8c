import AuthCore
import Testing

/// What every engine guarantees to several servers on one database.
@Suite(.indexesAreUsed) struct SharedDatabaseTests {
    @Test(arguments: Engine.shared)
    func aWriteOfOneStoreIsSeenByTheOther(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        #expect(try await stores[0].insert(account(1)))
        #expect(try await stores[1].account(id: accountID(1)) == account(1))
        #expect(try await stores[1].setState(of: accountID(1), to: .disabled))
        #expect(try await stores[0].account(id: accountID(1))?.state == .disabled)
    }

    @Test(arguments: Engine.shared)
    func aWriteOfAnotherStoreIsCounted(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        let before = try await stores[0].changeCount()
        #expect(try await stores[0].insert(account(1)))
        #expect(try await stores[0].changeCount() == before)
        #expect(try await stores[1].insertFirst(key("k")))
        // A notification may come a moment later; without one the keys are compared after 1.4 s.
        let deadline = ContinuousClock.now + .seconds(60)
        while try await stores[0].changeCount() == before {
            try #require(ContinuousClock.now < deadline)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test(arguments: Engine.shared)
    func ofConcurrentWritesOfTwoStoresOneSucceeds(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        let spends = try await winners(of: 60) { number in
            try await stores[number % 2].spend("one", expiry: Instant(seconds: 9))
        }
        #expect(spends == 1)
        let inserts = try await winners(of: 60) { number in
            try await stores[number % 2].insert(account(number, "one@mail.test"))
        }
        #expect(inserts == 1)
        #expect(
            try await winners(of: 2) { try await stores[$0].insertFirst(key("\($0)")) } == 1)
    }

    @Test(arguments: Engine.shared)
    func aDomainThatGetsAnAccountIsNotRemoved(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        #expect(try await stores[0].insert(user(1)))
        for round in 0..<30 {
            let name = "round\(round).test"
            #expect(
                try await stores[0].insert(domain(round, name, isVerified: true)) == .inserted)
            let won = try await winners(of: 2) { side in
                if side == 0 {
                    return try await stores[0].insert(
                        account(round, "a@\(name)", owner: userID(1)), on: domainID(round),
                        limit: 99, recording: event()) == .inserted
                }
                return try await stores[1].removeDomain(domainID(round), of: userID(1)) == .removed
            }
            #expect(won == 1)
            let isThere = try await stores[0].account(id: accountID(round)) != nil
            let isKept = try await stores[1].domain(named: domainName(name)) != nil
            #expect(isThere == isKept)
        }
    }

    @Test(arguments: Engine.shared)
    func noTokenOutlivesAPasswordThatIsReplacedMeanwhile(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        for round in 0..<30 {
            #expect(try await stores[0].insert(user(round)))
            _ = try await winners(of: 2) { side in
                if side == 0 { return try await stores[0].insert(token(round, of: round)) }
                return try await stores[1].replacePassword(
                    of: userID(round), at: 1, with: hash("new"), revokingTokens: true,
                    recording: event(.credentialReset))
            }
            #expect(try await stores[0].tokens(of: userID(round)).allSatisfy { $0.revoked != nil })
        }
    }

    @Test(arguments: Engine.shared)
    func twoStoresCannotExceedTheOwnersLimit(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        #expect(try await stores[0].insert(user(1)))
        let won = try await winners(of: 50) { number in
            try await stores[number % 2].insert(
                account(number, owner: userID(1)), limit: 7, recording: event()) == .inserted
        }
        #expect(won == 7)
        let recorded = try await stores[1].events(after: nil, limit: 100)
        #expect(recorded.map(\.sequence) == Array(1...8))
    }
}
