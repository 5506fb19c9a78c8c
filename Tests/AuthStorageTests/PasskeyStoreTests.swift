import AuthCore
import Testing

/// The conformance of every engine to ``PasskeyStore``.
@Suite(.indexesAreUsed) struct PasskeyStoreTests {
    private let now = Instant(milliseconds: 1_700_000_000_000)

    private func passkey(_ number: Int, of owner: Int) -> Passkey {
        let byte = UInt8(number)
        return Passkey(
            id: PasskeyID(random: [UInt8](repeating: byte, count: 16)), owner: userID(owner),
            name: "key \(number)", credential: [byte, 0, 255],
            publicKey: "-----BEGIN PUBLIC KEY-----\n\(number)", signatureCount: 0,
            isSynced: number % 2 == 0,
            created: now.advanced(by: .milliseconds(number)))
    }

    /// A store with two users.
    private func filled(_ engine: Engine) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        return store
    }

    @Test(arguments: Engine.allCases)
    func aPasskeyIsStoredAsItWasMade(engine: Engine) async throws {
        let store = try await filled(engine)
        let passkey = passkey(1, of: 1)
        #expect(
            try await store.insert(passkey, limit: 20, recording: event(.passkeyAdded))
                == .inserted)
        #expect(try await store.passkeys(of: userID(1)) == [passkey])
        #expect(try await store.passkeys(of: userID(2)) == [])
        let holder = try await store.holder(credential: passkey.credential)
        #expect(holder?.passkey == passkey)
        #expect(holder?.owner == (try user(1)))
        #expect(try await store.holder(credential: [1]) == nil)
        #expect(
            try await store.events(after: nil, limit: 100).map(\.event.kind).last == .passkeyAdded)
    }

    @Test(arguments: Engine.allCases)
    func aCredentialIsStoredOnceAndTheNumberIsLimited(engine: Engine) async throws {
        let store = try await filled(engine)
        let one = passkey(1, of: 1)
        _ = try await store.insert(one, limit: 2, recording: event(.passkeyAdded))
        let same = Passkey(
            id: passkey(7, of: 2).id, owner: userID(2), name: "other",
            credential: one.credential, publicKey: "other", signatureCount: 0,
            isSynced: false, created: now)
        #expect(
            try await store.insert(same, limit: 2, recording: event(.passkeyAdded))
                == .credentialTaken)
        #expect(
            try await store.insert(
                passkey(2, of: 1), limit: 2, recording: event(.passkeyAdded))
                == .inserted)
        #expect(
            try await store.insert(
                passkey(3, of: 1), limit: 2, recording: event(.passkeyAdded))
                == .limitReached)
        #expect(
            try await store.events(after: nil, limit: 100).map(\.event.kind).filter {
                $0 == .passkeyAdded
            }.count == 2)
    }

    @Test(arguments: Engine.allCases)
    func ofManyInsertionsAtOnceTheLimitHolds(engine: Engine) async throws {
        let store = try await filled(engine)
        let results = try await withThrowingTaskGroup(of: PasskeyInsertion.self) { group in
            for number in 1...8 {
                group.addTask {
                    try await store.insert(
                        passkey(number, of: 1), limit: 3,
                        recording: event(.passkeyAdded))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0 == .inserted }.count == 3)
        #expect(try await store.passkeys(of: userID(1)).count == 3)
    }

    @Test(arguments: Engine.allCases)
    func onlyTheOwnerRenamesAndRemoves(engine: Engine) async throws {
        let store = try await filled(engine)
        let one = passkey(1, of: 1)
        _ = try await store.insert(one, limit: 20, recording: event(.passkeyAdded))
        #expect(
            try await !store.rename(
                one.id, of: userID(2), to: "x", recording: event(.passkeyRenamed)))
        #expect(
            try await store.rename(
                one.id, of: userID(1), to: "x", recording: event(.passkeyRenamed)))
        #expect(try await store.passkeys(of: userID(1)).map(\.name) == ["x"])
        let removed = event(.passkeyRemoved)
        #expect(
            try await store.removePasskey(
                one.id, of: userID(2), keepingAccess: true, recording: removed) == .missing)
        // The user has a password.
        #expect(
            try await store.removePasskey(
                one.id, of: userID(1), keepingAccess: true, recording: removed) == .removed)
        #expect(
            try await store.removePasskey(
                one.id, of: userID(1), keepingAccess: true, recording: removed) == .missing)
        #expect(try await store.holder(credential: one.credential) == nil)
    }

    @Test(arguments: Engine.allCases)
    func theLastPasskeyOfAUserWithoutAPasswordStays(engine: Engine) async throws {
        let store = try await engine.open()
        var owner = try user(1)
        owner.password = nil
        #expect(try await store.insert(owner))
        for number in 1...4 {
            _ = try await store.insert(
                passkey(number, of: 1), limit: 20, recording: event(.passkeyAdded))
        }
        let id = userID(1)
        let results = try await withThrowingTaskGroup(of: PasskeyRemoval.self) { group in
            for number in 1...4 {
                group.addTask {
                    try await store.removePasskey(
                        passkey(number, of: 1).id, of: id, keepingAccess: true,
                        recording: event(.passkeyRemoved))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0 == .removed }.count == 3)
        #expect(results.filter { $0 == .isLast }.count == 1)
        let last = try #require(try await store.passkeys(of: id).first)
        #expect(
            try await store.removePasskey(
                last.id, of: id, keepingAccess: false, recording: event(.passkeyRemoved))
                == .removed)
    }

    @Test(arguments: Engine.allCases)
    func aCounterOnlyRises(engine: Engine) async throws {
        let store = try await filled(engine)
        let id = passkey(1, of: 1).id
        _ = try await store.insert(
            passkey(1, of: 1), limit: 20, recording: event(.passkeyAdded))
        // An authenticator that does not count.
        #expect(try await store.noteUse(of: id, count: 0, at: now))
        #expect(try await store.noteUse(of: id, count: 0, at: now))
        #expect(try await store.noteUse(of: id, count: 4_294_967_295, at: now))
        for count: Int64 in [0, 1, 4_294_967_295] {
            #expect(try await !store.noteUse(of: id, count: count, at: now))
        }
        let stored = try await store.passkeys(of: userID(1))
        #expect(stored.first?.signatureCount == 4_294_967_295)
        #expect(stored.first?.lastUsed == now)
    }

    @Test(arguments: Engine.allCases)
    func ofManyUsesWithOneCounterOneCounts(engine: Engine) async throws {
        let store = try await filled(engine)
        let id = passkey(1, of: 1).id
        _ = try await store.insert(
            passkey(1, of: 1), limit: 20, recording: event(.passkeyAdded))
        let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask { try await store.noteUse(of: id, count: 7, at: now) }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(wins == 1)
    }
}
