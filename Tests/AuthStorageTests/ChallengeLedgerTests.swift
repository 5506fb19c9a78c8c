import AuthCore
import Testing

/// What every engine guarantees about spent challenges.
@Suite(.indexesAreUsed) struct ChallengeLedgerTests {
    @Test(arguments: Engine.allCases)
    func aChallengeIsSpentOnce(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.spend("one", expiry: Instant(seconds: 100)))
        #expect(try await !store.spend("one", expiry: Instant(seconds: 100)))
        #expect(try await !store.spend("one", expiry: Instant(seconds: 200)))
        #expect(try await store.spend("two", expiry: Instant(seconds: 100)))
    }

    @Test(arguments: Engine.allCases)
    func idsAreComparedByteByByte(engine: Engine) async throws {
        let store = try await engine.open()
        for id in ["", "a", "A", "a ", "1", "01", "1.0"] {
            #expect(try await store.spend(id, expiry: Instant(seconds: 1)))
        }
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentSpendsOfOneChallengeOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        for round in 0..<4 {
            let won = try await winners(of: 64) { _ in
                try await store.spend("round \(round)", expiry: Instant(seconds: 100))
            }
            #expect(won == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func aHeldMarkCanBeTakenWhenItHasEnded(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.hold("one", until: Instant(seconds: 8), at: .epoch))
        #expect(try await !store.hold("one", until: Instant(seconds: 15), at: Instant(seconds: 7)))
        #expect(try await store.hold("two", until: Instant(seconds: 15), at: Instant(seconds: 7)))
        #expect(try await store.hold("one", until: Instant(seconds: 16), at: Instant(seconds: 8)))
        #expect(try await !store.hold("one", until: Instant(seconds: 17), at: Instant(seconds: 9)))
        try await store.restore("one")
        #expect(try await store.hold("one", until: Instant(seconds: 17), at: Instant(seconds: 9)))
    }

    @Test(arguments: Engine.allCases)
    func aMarkFromBeforeTheClockWasSetBackDoesNotHold(engine: Engine) async throws {
        let store = try await engine.open()
        let hour = Instant(seconds: 3600)
        #expect(try await store.hold("one", until: hour, at: Instant(seconds: 3592)))
        // The clocks of two servers may differ by a minute.
        #expect(
            try await !store.hold("one", until: Instant(seconds: 3540), at: Instant(seconds: 3532)))
        #expect(
            try await store.hold("one", until: Instant(seconds: 3539), at: Instant(seconds: 3531)))
        #expect(
            try await !store.hold("one", until: Instant(seconds: 3540), at: Instant(seconds: 3532)))
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentHoldsOfOneMarkOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        for round: Int64 in 0..<4 {
            let won = try await winners(of: 64) { _ in
                try await store.hold(
                    "one", until: Instant(seconds: round + 1), at: Instant(seconds: round))
            }
            #expect(won == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func aRestoredChallengeCanBeSpentAgain(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.spend("one", expiry: Instant(seconds: 100)))
        #expect(try await store.spend("two", expiry: Instant(seconds: 100)))
        try await store.restore("one")
        try await store.restore("never spent")
        #expect(try await store.spend("one", expiry: Instant(seconds: 100)))
        #expect(try await !store.spend("one", expiry: Instant(seconds: 100)))
        #expect(try await !store.spend("two", expiry: Instant(seconds: 100)))
    }

    @Test(arguments: Engine.allCases)
    func sweepingRemovesOnlyExpiredChallenges(engine: Engine) async throws {
        let store = try await engine.open()
        for second: Int64 in 1...5 {
            #expect(try await store.spend("\(second)", expiry: Instant(seconds: second)))
        }
        #expect(try await store.sweep(before: Instant(seconds: 3), limit: 100) == 2)
        #expect(try await store.sweep(before: Instant(seconds: 3), limit: 100) == 0)
        for second in 3...5 {
            #expect(try await !store.spend("\(second)", expiry: Instant(seconds: 9)))
        }
    }

    @Test(arguments: Engine.allCases)
    func sweepingRemovesAtMostItsLimit(engine: Engine) async throws {
        let store = try await engine.open()
        for number in 0..<10 {
            #expect(try await store.spend("\(number)", expiry: Instant(seconds: 1)))
        }
        let later = Instant(seconds: 2)
        #expect(try await store.sweep(before: later, limit: 0) == 0)
        #expect(try await store.sweep(before: later, limit: -1) == 0)
        #expect(try await store.sweep(before: later, limit: 4) == 4)
        #expect(try await store.sweep(before: later, limit: 4) == 4)
        #expect(try await store.sweep(before: later, limit: .max) == 2)
    }

    @Test(arguments: Engine.allCases)
    func anEndedTokenHasNoAccountUntilItIsSwept(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1)))
        let id = accountID(1)
        #expect(try await store.account(id: id, unlessEnded: "token") == account(1))
        #expect(try await store.account(id: accountID(2), unlessEnded: "token") == nil)
        for isFirst in [true, false] {
            let isEnded = try await store.end(
                "token", expiry: Instant(seconds: 5), recording: event(.sessionEnded, "ended"))
            #expect(isEnded == isFirst)
            #expect(try await store.subjects.filter { $0 == "ended" }.count == 1)
        }
        #expect(try await store.account(id: id, unlessEnded: "token") == nil)
        #expect(try await store.account(id: id, unlessEnded: "Token") == account(1))
        #expect(try await store.account(id: id) == account(1))
        #expect(try await store.sweep(before: Instant(seconds: 5), limit: 9) == 0)
        #expect(try await store.sweep(before: Instant(seconds: 6), limit: 9) == 1)
        #expect(try await store.account(id: id, unlessEnded: "token") == account(1))
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentEndsOfOneTokenOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        let won = try await winners(of: 50) { _ in
            try await store.end(
                "token", expiry: Instant(seconds: 5), recording: event(.sessionEnded))
        }
        #expect(won == 1)
    }

    @Test(arguments: Engine.allCases)
    func anExpiredChallengeStaysSpentUntilItIsSwept(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.spend("old", expiry: Instant(milliseconds: .min)))
        #expect(try await !store.spend("old", expiry: Instant(seconds: 1)))
    }
}
