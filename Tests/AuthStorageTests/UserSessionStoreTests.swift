import AuthCore
import Testing

/// What every engine guarantees about the sessions of users.
@Suite(.indexesAreUsed) struct UserSessionStoreTests {
    private func withUsers(_ engine: Engine) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        return store
    }

    private func ids(_ store: any EngineStore, of owner: Int = 1) async throws -> [UserSessionID] {
        try await store.sessions(of: userID(owner), at: .epoch).map(\.id)
    }

    @Test(arguments: Engine.allCases)
    func everyFieldIsStoredAndRead(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let methods: [UserSession.Method] = [
            .password, .passkey, .registration, .provider("caf\u{e9}'s"), .provider(""),
        ]
        for (number, method) in methods.enumerated() {
            let full = UserSession(
                id: sessionID(number), owner: userID(1), method: method,
                client: "2001:db8::/64", agent: "O'Browser/1.0 (\"x\")",
                created: Instant(milliseconds: -5), lastUsed: .epoch,
                expiry: Instant(milliseconds: 9), authenticated: Instant(milliseconds: 7))
            #expect(try await store.insert(full))
            let found = try #require(try await store.holder(of: full.id))
            #expect(found.session == full)
            #expect(found.owner == (try user(1)))
        }
        #expect(try await store.holder(of: sessionID(9)) == nil)
    }

    @Test(arguments: Engine.allCases)
    func aSessionIsAddedOnlyAtTheVersionOfAnActiveUser(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for version: Int64 in [0, 2, -1, .max, .min] {
            #expect(try await !store.insert(session(1), at: version))
        }
        #expect(try await !store.insert(session(1, of: 3)))
        #expect(try await store.setState(of: userID(2), to: User.State.disabled))
        for version: Int64 in [1, 2] {
            #expect(try await !store.insert(session(1, of: 2), at: version))
        }
        #expect(try await store.insert(session(1)))
        // The id is taken.
        #expect(try await !store.insert(session(1, of: 1)))
        #expect(try await ids(store) == [sessionID(1)])
    }

    @Test(arguments: Engine.allCases)
    func aSessionWithAnEventIsAddedWithIt(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let before = try await store.subjects
        #expect(try await store.insert(session(1), recording: event(.loginSucceeded, "one")))
        #expect(
            try await !store.insert(session(2), at: 7, recording: event(.loginSucceeded, "two")))
        #expect(try await store.insert(session(3)))
        #expect(try await store.subjects == before + ["one"])
    }

    @Test(arguments: Engine.allCases)
    func theSessionThatWasNotUsedForTheLongestTimeMakesPlace(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(session(50, of: 2, lastUsed: 0)))
        for number in 1...3 {
            #expect(try await store.insert(session(number, lastUsed: Int64(10 * number)), limit: 3))
        }
        try await store.noteUse(
            of: sessionID(1), at: Instant(milliseconds: 99), unlessSince: Instant(milliseconds: 99))
        // The new one is kept, whatever its time.
        #expect(try await store.insert(session(4, lastUsed: -5), limit: 3))
        #expect(try await ids(store) == [1, 3, 4].map(sessionID))
        #expect(try await !store.insert(session(5), at: 7, limit: 3, recording: nil))
        #expect(try await ids(store) == [1, 3, 4].map(sessionID))
        #expect(try await store.insert(session(6, lastUsed: 0), limit: 1))
        #expect(try await ids(store) == [sessionID(6)])
        #expect(try await ids(store, of: 2) == [sessionID(50)])
    }

    @Test(arguments: Engine.allCases)
    func concurrentLoginsCannotExceedTheLimit(engine: Engine) async throws {
        let store = try await withUsers(engine)
        let won = try await winners(of: 50) { number in
            try await store.insert(
                session(number, lastUsed: Int64(number)), at: 1, limit: 5, recording: event())
        }
        #expect(won == 50)
        #expect(try await ids(store).count == 5)
    }

    @Test(arguments: Engine.allCases)
    func sessionsThatHaveNotExpiredAreListedByTheirLastUse(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for (number, used, expiry) in [(1, 5, 100), (2, 9, 100), (3, 5, 101), (4, 7, 99)] {
            #expect(
                try await store.insert(
                    session(number, lastUsed: Int64(used), expiry: Int64(expiry))))
        }
        func listed(at now: Int64) async throws -> [UserSessionID] {
            try await store.sessions(of: userID(1), at: Instant(milliseconds: now)).map(\.id)
        }
        #expect(try await listed(at: 0) == [2, 4, 1, 3].map(sessionID))
        #expect(try await listed(at: 99) == [2, 1, 3].map(sessionID))
        #expect(try await listed(at: 100) == [sessionID(3)])
        #expect(try await ids(store, of: 2).isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func aSessionIsEndedOnceByItsOwner(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 1...2 { #expect(try await store.insert(session(number))) }
        #expect(try await !store.endSession(sessionID(1), of: userID(2), recording: event()))
        #expect(try await !store.endSession(sessionID(3), of: userID(1), recording: event()))
        #expect(try await store.holder(of: sessionID(1)) != nil)
        let won = try await winners(of: 20) { _ in
            try await store.endSession(sessionID(1), of: userID(1), recording: event())
        }
        #expect(won == 1)
        #expect(try await store.holder(of: sessionID(1)) == nil)
        #expect(try await ids(store) == [sessionID(2)])
    }

    /// Every change of a credential but the password, with whether it changes anything now.
    private static let changes:
        [(
            name: String, isMade: Bool,
            make: @Sendable (any EngineStore, OtherSessions) async throws -> Void
        )] = [
            (
                "no codes to replace", false,
                {
                    _ = try await $0.replaceRecoveryCodes(
                        of: userID(1), by: [], recording: event(.recoveryCodesReplaced), ending: $1)
                }
            ),
            (
                "insert codes", true,
                {
                    _ = try await $0.insert(
                        codes, recoveryCodes: [digest(1)], recording: event(.totpEnabled),
                        ending: $1)
                }
            ),
            (
                "insert codes again", false,
                {
                    _ = try await $0.insert(
                        codes, recoveryCodes: [], recording: event(.totpEnabled), ending: $1)
                }
            ),
            (
                "replace codes", true,
                {
                    _ = try await $0.replaceRecoveryCodes(
                        of: userID(1), by: [digest(2)], recording: event(.recoveryCodesReplaced),
                        ending: $1)
                }
            ),
            (
                "remove codes", true,
                {
                    _ = try await $0.removeTOTP(
                        of: userID(1), recording: event(.totpDisabled), ending: $1)
                }
            ),
            (
                "remove codes again", false,
                {
                    _ = try await $0.removeTOTP(
                        of: userID(1), recording: event(.totpDisabled), ending: $1)
                }
            ),
            (
                "insert passkey", true,
                {
                    _ = try await $0.insert(
                        key, limit: 1, recording: event(.passkeyAdded), ending: $1)
                }
            ),
            (
                "insert passkey beyond the limit", false,
                {
                    _ = try await $0.insert(
                        key, limit: 1, recording: event(.passkeyAdded), ending: $1)
                }
            ),
            (
                "remove passkey", true,
                {
                    _ = try await $0.removePasskey(
                        key.id, of: userID(1), keepingAccess: false,
                        recording: event(.passkeyRemoved), ending: $1)
                }
            ),
            (
                "remove passkey again", false,
                {
                    _ = try await $0.removePasskey(
                        key.id, of: userID(1), keepingAccess: false,
                        recording: event(.passkeyRemoved), ending: $1)
                }
            ),
        ]

    private static let codes = StoredTOTP(
        owner: userID(1), sealedSecret: [1], lastStep: 1, created: .epoch)
    private static let key = Passkey(
        id: PasskeyID(random: [UInt8](repeating: 1, count: 16)), owner: userID(1), name: "key",
        credential: [1], publicKey: "key", signatureCount: 0, isSynced: false, created: .epoch)

    /// In one transaction: a server that fails or is killed leaves neither without the other.
    @Test(arguments: Engine.allCases)
    func otherSessionsEndWithTheChangeOfACredential(engine: Engine) async throws {
        let store = try await withUsers(engine)
        func add(_ number: Int, of owner: Int = 1) async throws {
            let result = try await store.insert(
                session(number, of: owner), at: 1, hasSecondFactor: true, limit: 100,
                recording: nil)
            #expect(result == .inserted)
        }
        try await add(1)
        try await add(2, of: 2)
        let others = OtherSessions(than: sessionID(1), recording: event(.otherSessionsEnded))
        func ended() async throws -> Int {
            try await store.events(after: nil, limit: 100)
                .count { $0.event.kind == .otherSessionsEnded }
        }
        var number = 2
        var count = 0
        for change in Self.changes {
            number += 1
            try await add(number)
            try await change.make(store, others)
            if change.isMade { count += 1 }
            #expect(
                try await ids(store).contains(sessionID(number)) == !change.isMade,
                "\(change.name)")
            #expect(try await ids(store).contains(sessionID(1)), "\(change.name)")
            #expect(try await ended() == count, "\(change.name)")
        }
        #expect(try await ids(store, of: 2) == [sessionID(2)])
    }

    @Test(arguments: Engine.allCases)
    func allSessionsButOneAreEnded(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 1...3 { #expect(try await store.insert(session(number))) }
        #expect(try await store.insert(session(4, of: 2)))
        #expect(
            try await store.endSessions(
                of: userID(1), except: sessionID(2), recording: event(.otherSessionsEnded)))
        #expect(try await ids(store) == [sessionID(2)])
        #expect(try await ids(store, of: 2) == [sessionID(4)])
        let count = try await store.subjects.count
        #expect(
            try await !store.endSessions(
                of: userID(1), except: sessionID(2), recording: event(.otherSessionsEnded)))
        #expect(try await store.subjects.count == count)
        // A session of another user is not one of theirs.
        #expect(
            try await store.endSessions(
                of: userID(1), except: sessionID(4), recording: event(.otherSessionsEnded)))
        #expect(try await ids(store).isEmpty)
        #expect(try await ids(store, of: 2) == [sessionID(4)])
    }

    @Test(arguments: Engine.allCases)
    func whatRaisesTheVersionEndsEverySessionOfTheUser(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(session(100, of: 2)))
        let changes: [@Sendable (Int64) async throws -> Bool] = [
            { try await store.endSessions(of: userID(1), at: $0) },
            { try await store.replacePassword(of: userID(1), at: $0, with: hash("new")) },
            { _ in try await store.setState(of: userID(1), to: User.State.disabled) },
        ]
        for (number, change) in changes.enumerated() {
            let version = Int64(number + 1)
            for each in 1...2 {
                #expect(try await store.insert(session(10 * number + each), at: version))
            }
            if number < 2 { #expect(try await !change(version + 5)) }
            #expect(try await ids(store).count == 2)
            #expect(try await change(version))
            #expect(try await ids(store).isEmpty)
        }
        #expect(try await ids(store, of: 2) == [sessionID(100)])
    }

    @Test(arguments: Engine.allCases)
    func aUseIsNotedUnlessALaterOneIs(engine: Engine) async throws {
        let store = try await withUsers(engine)
        #expect(try await store.insert(session(1, lastUsed: 100)))
        func note(_ now: Int64, unlessSince since: Int64) async throws -> Int64? {
            try await store.noteUse(
                of: sessionID(1), at: Instant(milliseconds: now),
                unlessSince: Instant(milliseconds: since))
            return try await store.holder(of: sessionID(1))?.session.lastUsed.milliseconds
        }
        #expect(try await note(150, unlessSince: 100) == 100)
        #expect(try await note(161, unlessSince: 101) == 161)
        #expect(try await note(162, unlessSince: 102) == 161)
    }

    @Test(arguments: Engine.allCases)
    func notingAUseDoesNotBringAnEndedSessionBack(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for round in 0..<20 {
            #expect(try await store.insert(session(round, lastUsed: 0)))
            _ = try await winners(of: 4) { side in
                if side == 0 {
                    return try await store.endSession(
                        sessionID(round), of: userID(1), recording: event())
                }
                try await store.noteUse(
                    of: sessionID(round), at: Instant(milliseconds: Int64(side)),
                    unlessSince: Instant(milliseconds: Int64(side)))
                return true
            }
            #expect(try await store.holder(of: sessionID(round)) == nil)
        }
    }

    /// A login that was checked before a change of the credentials leaves no session after it.
    @Test(arguments: Engine.allCases)
    func noSessionOutlivesAChangeThatItRacesWith(engine: Engine) async throws {
        let store = try await engine.open()
        for round in 0..<20 {
            #expect(try await store.insert(user(round)))
            _ = try await winners(of: 12) { side in
                switch side {
                case 4 where round % 3 == 0:
                    try await store.setState(of: userID(round), to: User.State.disabled)
                case 4 where round % 3 == 1: try await store.endSessions(of: userID(round), at: 1)
                case 4:
                    try await store.replacePassword(of: userID(round), at: 1, with: hash("new"))
                default:
                    try await store.insert(
                        session(100 * round + side, of: round),
                        recording: side % 2 == 0 ? nil : event(.loginSucceeded))
                }
            }
            #expect(try await ids(store, of: round).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func expiredSessionsAreRemovedInPortions(engine: Engine) async throws {
        let store = try await withUsers(engine)
        for number in 1...5 {
            #expect(try await store.insert(session(number, expiry: Int64(number))))
        }
        func sweep(before: Int64, limit: Int) async throws -> Int {
            try await store.sweepSessions(before: Instant(milliseconds: before), limit: limit)
        }
        #expect(try await sweep(before: 1, limit: 9) == 0)
        #expect(try await sweep(before: 4, limit: 2) == 2)
        #expect(try await store.holder(of: sessionID(2)) == nil)
        #expect(try await sweep(before: 4, limit: 2) == 1)
        #expect(try await sweep(before: 4, limit: 2) == 0)
        #expect(try await store.holder(of: sessionID(4)) != nil)
        for limit in [0, -1, .min] { #expect(try await sweep(before: .max, limit: limit) == 0) }
        #expect(try await sweep(before: .max, limit: .max) == 2)
    }

    @Test(arguments: Engine.shared)
    func aSessionThatOneServerEndsIsGoneOnEveryOther(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        #expect(try await stores[0].insert(user(1)))
        #expect(try await stores[0].insert(session(1)))
        #expect(try await stores[1].holder(of: sessionID(1)) != nil)
        #expect(try await stores[1].endSession(sessionID(1), of: userID(1), recording: event()))
        #expect(try await stores[0].holder(of: sessionID(1)) == nil)
    }
}
