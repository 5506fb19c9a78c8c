import AuthCore
import AuthStorage
import Testing

/// What every engine guarantees about signing keys.
@Suite(.indexesAreUsed) struct SigningKeyStoreTests {
    @Test(arguments: Engine.allCases)
    func everyFieldOfAKeyIsStoredAndRead(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.keys().isEmpty)
        let first = key("first", .capability, created: 5)
        #expect(try await store.insertFirst(first))
        #expect(try await store.keys() == [first])
    }

    @Test(arguments: Engine.allCases)
    func aUseHasOneSigningKey(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("a", .agent)))
        #expect(try await !store.insertFirst(key("b", .agent)))
        #expect(try await store.insertFirst(key("c", .capability)))
        #expect(try await store.keys().map(\.id) == ["a", "c"])
    }

    @Test(arguments: Engine.allCases)
    func anIdInUseIsNotInsertedAgain(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("a", .agent)))
        #expect(try await !store.insertFirst(key("a", .capability)))
        #expect(try await store.keys() == [key("a", .agent)])
    }

    @Test(arguments: Engine.allCases)
    func aResealReplacesEverySealedFormOrNone(engine: Engine) async throws {
        struct Unreadable: Error {}
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("a", .agent, created: 1)))
        #expect(try await store.insertFirst(key("c", .capability, created: 1)))
        try await store.rotate(to: key("b", .agent, created: 2), retiring: .epoch)
        let before = try await store.keys()
        await #expect(throws: Unreadable.self) {
            try await store.reseal(recording: event(.keysResealed, "failed"), secrets: { $1 }) {
                key in
                if key.id == "c" { throw Unreadable() }
                return [1]
            }
        }
        #expect(try await store.keys() == before)
        let count = try await store.reseal(
            recording: event(.keysResealed, "done"), secrets: { $1 }
        ) {
            [0xff] + $0.sealed
        }
        #expect(count == 3)
        let after = try await store.keys()
        #expect(after.map(\.sealed) == before.map { [0xff] + $0.sealed })
        #expect(after.map(\.id) == before.map(\.id))
        #expect(after.map(\.retired) == before.map(\.retired))
        #expect(try await store.subjects.filter { $0 == "failed" || $0 == "done" } == ["done"])
    }

    @Test(arguments: Engine.allCases)
    func ofServersThatStartTogetherOneInsertsTheKey(engine: Engine) async throws {
        let store = try await engine.open()
        let won = try await winners(of: 50) { try await store.insertFirst(key("\($0)")) }
        #expect(won == 1)
        #expect(try await store.keys().count == 1)
    }

    @Test(arguments: Engine.allCases)
    func rotationRetiresOnlyThePreviousKey(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("a", .agent, created: 1)))
        #expect(try await store.insertFirst(key("other", .capability, created: 1)))
        try await store.rotate(
            to: key("b", .agent, created: 2), retiring: Instant(milliseconds: 10))
        try await store.rotate(
            to: key("c", .agent, created: 3), retiring: Instant(milliseconds: 20))
        let expected = [
            key("c", .agent, created: 3), key("b", .agent, created: 2, retired: 20),
            key("a", .agent, created: 1, retired: 10), key("other", .capability, created: 1),
        ]
        #expect(try await store.keys() == expected)
    }

    @Test(arguments: Engine.allCases)
    func aRotationOfAKeyThatIsNotCurrentChangesNothing(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("a", .agent, created: 1)))
        try await store.rotate(
            to: key("b", .agent, created: 2), replacing: .current(id: "a"),
            retiring: Instant(milliseconds: 10))
        let before = try await store.keys()
        #expect(before.map(\.retired) == [nil, Instant(milliseconds: 10)])
        let isMade: Bool = try await store.rotate(
            to: key("c", .agent, created: 3), replacing: .current(id: "a"),
            retiring: Instant(milliseconds: 20), recording: event(.keyRotated, "late"))
        #expect(!isMade)
        #expect(try await store.keys() == before)
        #expect(try await !store.subjects.contains("late"))
    }

    @Test(arguments: Engine.allCases)
    func ofRacingRotationsOfOneKeyOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("first")))
        let won = try await winners(of: 20) { number in
            try await store.rotate(
                to: key("\(number)", created: 5), replacing: .current(id: "first"),
                retiring: Instant(milliseconds: 9), recording: event(.keyRotated))
        }
        #expect(won == 1)
        #expect(try await store.keys().count == 2)
    }

    @Test(arguments: Engine.allCases)
    func replacingAllKeysEndsThoseThatWouldVerifyForLonger(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("other", .capability, created: 1)))
        #expect(try await store.insertFirst(key("a", .agent, created: 1)))
        for (number, retiring) in [("b", 5), ("c", 100)] as [(String, Int64)] {
            try await store.rotate(
                to: key(number, .agent, created: 2),
                replacing: .current(id: number == "b" ? "a" : "b"),
                retiring: Instant(milliseconds: retiring))
        }
        try await store.rotate(
            to: key("d", .agent, created: 3), retiring: Instant(milliseconds: 10))
        let ends = Dictionary(
            uniqueKeysWithValues: try await store.keys().map { ($0.id, $0.retired?.milliseconds) })
        #expect(ends == ["a": 5, "b": 10, "c": 10, "d": nil, "other": nil])
    }

    @Test(arguments: Engine.allCases)
    func aUseWithoutAKeyCanBeRotatedTo(engine: Engine) async throws {
        let store = try await engine.open()
        try await store.rotate(to: key("a"), retiring: .epoch)
        #expect(try await store.keys() == [key("a")])
        #expect(try await !store.insertFirst(key("b")))
    }

    @Test(arguments: Engine.allCases)
    func aKeyThatIsInsertedAsRetiredSigns(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("a", retired: 5)))
        try await store.rotate(to: key("b", created: 2, retired: 5), retiring: .epoch)
        #expect(try await store.keys().map(\.retired) == [nil, .epoch])
    }

    @Test(arguments: Engine.allCases)
    func aFailedRotationRetiresNothing(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("a")))
        await #expect(throws: StorageError.duplicateKey(id: "a")) {
            try await store.rotate(to: key("a"), retiring: .epoch)
        }
        #expect(try await store.keys() == [key("a")])
    }

    @Test(arguments: Engine.allCases)
    func racingRotationsLeaveOneSigningKey(engine: Engine) async throws {
        let store = try await engine.open()
        _ = try await winners(of: 20) { number in
            try await store.rotate(to: key("\(number)"), retiring: Instant(milliseconds: 9))
            return true
        }
        let keys = try await store.keys()
        #expect(keys.count == 20)
        #expect(keys.filter { $0.retired == nil }.count == 1)
        #expect(keys.first?.retired == nil)
    }

    @Test(arguments: Engine.allCases)
    func onlyKeysThatNoLongerVerifyAreRemoved(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insertFirst(key("a", created: 1)))
        try await store.rotate(to: key("b", created: 2), retiring: Instant(milliseconds: 10))
        try await store.rotate(to: key("c", created: 3), retiring: Instant(milliseconds: 20))
        #expect(try await store.removeRetired(before: Instant(milliseconds: 10)) == 0)
        #expect(try await store.removeRetired(before: Instant(milliseconds: 20)) == 1)
        #expect(try await store.keys().map(\.id) == ["c", "b"])
        #expect(try await store.removeRetired(before: Instant(milliseconds: .max)) == 1)
        #expect(try await store.keys().map(\.id) == ["c"])
    }
}
