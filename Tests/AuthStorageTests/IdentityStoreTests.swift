import AuthCore
import Testing

/// The conformance of every engine to ``IdentityStore``.
@Suite(.indexesAreUsed) struct IdentityStoreTests {
    private let now = Instant(milliseconds: 1_700_000_000_000)

    private func identity(
        _ number: Int, of owner: Int, at issuer: String = "https://id.test", subject: String? = nil
    ) -> Identity {
        Identity(
            id: IdentityID(random: [UInt8](repeating: UInt8(number), count: 16)),
            owner: userID(owner), provider: "id", issuer: issuer,
            subject: subject ?? "subject \(number)", email: "u\(number)@example.test",
            created: now.advanced(by: .milliseconds(number)))
    }

    private func link(
        _ identity: Identity, in store: any EngineStore, at version: Int64 = 1
    ) async throws -> IdentityInsertion {
        try await store.insert(identity, at: version, recording: event(.identityLinked))
    }

    /// A store with two users.
    private func filled(_ engine: Engine) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...2 { #expect(try await store.insert(user(number))) }
        return store
    }

    private func withoutPassword(_ number: Int) throws -> User {
        var owner = try user(number)
        owner.password = nil
        return owner
    }

    @Test(arguments: Engine.allCases)
    func anIdentityIsStoredAsItWasMade(engine: Engine) async throws {
        let store = try await filled(engine)
        let one = identity(1, of: 1)
        #expect(try await link(one, in: store) == .inserted)
        #expect(try await store.identities(of: userID(1)) == [one])
        #expect(try await store.identities(of: userID(2)) == [])
        let holder = try await store.holder(issuer: one.issuer, subject: one.subject)
        #expect(holder?.identity == one)
        #expect(holder?.owner == (try user(1)))
        #expect(try await store.holder(issuer: one.issuer, subject: "other") == nil)
        #expect(try await store.holder(issuer: "https://other.test", subject: one.subject) == nil)
        #expect(
            try await store.events(after: nil, limit: 9).map(\.event.kind).last == .identityLinked)
    }

    @Test(arguments: Engine.allCases)
    func aUseIsNotedWithTheNameAndTheEmailOfThatTime(engine: Engine) async throws {
        let store = try await filled(engine)
        let one = identity(1, of: 1)
        #expect(try await link(one, in: store) == .inserted)
        try await store.noteUse(of: one.id, provider: "renamed", email: nil, at: now)
        let stored = try #require(try await store.identities(of: userID(1)).first)
        #expect(stored.lastUsed == now)
        #expect(stored.provider == "renamed")
        #expect(stored.email == nil)
    }

    @Test(arguments: Engine.allCases)
    func aSubjectIsLinkedOnceAndAUserToOneSubjectOfAnIssuer(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await link(identity(1, of: 1), in: store) == .inserted)
        #expect(
            try await link(identity(2, of: 2, subject: "subject 1"), in: store)
                == .identityTaken)
        #expect(
            try await link(identity(2, of: 1, subject: "subject 1"), in: store)
                == .identityTaken)
        #expect(try await link(identity(2, of: 1), in: store) == .providerTaken)
        let elsewhere = identity(2, of: 1, at: "https://other.test", subject: "subject 1")
        #expect(try await link(elsewhere, in: store) == .inserted)
        #expect(try await store.identities(of: userID(1)).count == 2)
        #expect(
            try await store.events(after: nil, limit: 9).filter {
                $0.event.kind == .identityLinked
            }.count == 2)
    }

    @Test(arguments: Engine.allCases)
    func noIdentityIsLinkedAfterAChangeOfTheCredentials(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await link(identity(1, of: 1), in: store, at: 2) == .rejected)
        #expect(try await store.endSessions(of: userID(1), at: 1, recording: event(.userLoggedOut)))
        #expect(try await link(identity(1, of: 1), in: store) == .rejected)
        #expect(
            try await store.setState(
                of: userID(2), to: .disabled, recording: event(.userDisabled)))
        #expect(try await link(identity(1, of: 2), in: store, at: 2) == .rejected)
        #expect(try await store.identities(of: userID(1)).isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func ofTwoUsersThatLinkOneIdentityAtOnceOneWins(engine: Engine) async throws {
        let store = try await filled(engine)
        let results = try await withThrowingTaskGroup(of: IdentityInsertion.self) { group in
            for number in 1...8 {
                let identity = identity(number, of: number % 2 + 1, subject: "one")
                group.addTask { try await link(identity, in: store) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0 == .inserted }.count == 1)
        #expect(results.filter { $0 == .identityTaken }.count == 7)
    }

    @Test(arguments: Engine.allCases)
    func aUserAndTheIdentityAreAddedTogetherOrNotAtAll(engine: Engine) async throws {
        let store = try await engine.open()
        let created = event(.userCreated)
        let first = identity(1, of: 1)
        #expect(
            try await store.insert(withoutPassword(1), with: first, recording: created)
                == .inserted)
        #expect(try await store.identities(of: userID(1)) == [first])
        // The same identity for another email.
        #expect(
            try await store.insert(
                withoutPassword(2), with: identity(2, of: 2, subject: first.subject),
                recording: created) == .identityTaken)
        #expect(try await store.user(id: userID(2)) == nil)
        // Another identity for the same email.
        var same = try user(3, "user1@example.test")
        same.password = nil
        #expect(
            try await store.insert(same, with: identity(3, of: 3), recording: created)
                == .emailTaken)
        #expect(try await store.holder(issuer: first.issuer, subject: "subject 3") == nil)
        #expect(try await store.events(after: nil, limit: 9).count == 1)
    }

    @Test(arguments: Engine.allCases)
    func ofManyFirstLoginsAtOnceOneAddsTheUser(engine: Engine) async throws {
        let store = try await engine.open()
        let results = try await withThrowingTaskGroup(of: IdentityInsertion.self) { group in
            for number in 1...8 {
                // Half of them with another email: the user has just changed it at the provider.
                let user = try withoutPassword(number)
                let identity = identity(number, of: number, subject: "one")
                group.addTask {
                    try await store.insert(user, with: identity, recording: event(.userCreated))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0 == .inserted }.count == 1)
        #expect(try await store.users(after: nil, limit: 9).count == 1)
    }

    @Test(arguments: Engine.allCases)
    func onlyTheOwnerRemoves(engine: Engine) async throws {
        let store = try await filled(engine)
        let one = identity(1, of: 1)
        #expect(try await link(one, in: store) == .inserted)
        let removed = event(.identityUnlinked)
        #expect(
            try await store.removeIdentity(
                one.id, of: userID(2), keepingAccess: true, recording: removed) == .missing)
        // The user has a password.
        #expect(
            try await store.removeIdentity(
                one.id, of: userID(1), keepingAccess: true, recording: removed) == .removed)
        #expect(
            try await store.removeIdentity(
                one.id, of: userID(1), keepingAccess: true, recording: removed) == .missing)
    }

    /// Of the ways to sign in that are removed at once, one stays, whatever their kind.
    @Test(arguments: Engine.allCases)
    func theLastWayToSignInStays(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(withoutPassword(1)))
        let id = userID(1)
        for round in 0..<4 {
            let one = identity(10 + round, of: 1)
            let key = passkey(20 + round)
            // What the round before has left may be of either kind.
            if try await store.identities(of: id).isEmpty {
                #expect(try await link(one, in: store) == .inserted)
            }
            if try await store.passkeys(of: id).isEmpty {
                _ = try await store.insert(key, limit: 9, recording: event(.passkeyAdded))
            }
            let identityID = try #require(try await store.identities(of: id).first?.id)
            let passkeyID = try #require(try await store.passkeys(of: id).first?.id)
            async let unlinked = store.removeIdentity(
                identityID, of: id, keepingAccess: true, recording: event(.identityUnlinked))
            async let removed = store.removePasskey(
                passkeyID, of: id, keepingAccess: true, recording: event(.passkeyRemoved))
            let results = try await (unlinked == .removed, removed == .removed)
            #expect(results.0 != results.1)
        }
        let last = try #require(
            try await (store.identities(of: id).count + store.passkeys(of: id).count) as Int?)
        #expect(last == 1)
    }

    /// In the same transaction, and only if something has changed.
    @Test(arguments: Engine.allCases)
    func otherSessionsEndWithALinkAndWithItsEnd(engine: Engine) async throws {
        let store = try await filled(engine)
        let others = OtherSessions(than: sessionID(1), recording: event(.otherSessionsEnded))
        func sessions() async throws -> [UserSessionID] {
            try await store.sessions(of: userID(1), at: .epoch).map(\.id)
        }
        func add() async throws {
            #expect(try await store.insert(session(2)))
        }
        let one = identity(1, of: 1)
        #expect(try await store.insert(session(1)))
        try await add()
        for (version, count) in [(Int64(2), 2), (1, 1)] {
            _ = try await store.insert(
                one, at: version, recording: event(.identityLinked), ending: others)
            #expect(try await sessions().count == count)
        }
        try await add()
        for (owner, count) in [(2, 2), (1, 1)] {
            _ = try await store.removeIdentity(
                one.id, of: userID(owner), keepingAccess: true,
                recording: event(.identityUnlinked), ending: others)
            #expect(try await sessions().count == count)
        }
        let kinds = try await store.events(after: nil, limit: 99).map(\.event.kind)
        #expect(kinds.filter { $0 == .otherSessionsEnded }.count == 2)
    }

    @Test(arguments: Engine.allCases)
    func theOperatorRemovesTheLastOne(engine: Engine) async throws {
        let store = try await engine.open()
        let one = identity(1, of: 1)
        _ = try await store.insert(withoutPassword(1), with: one, recording: event(.userCreated))
        #expect(
            try await store.removeIdentity(
                one.id, of: userID(1), keepingAccess: true, recording: event(.identityUnlinked))
                == .isLast)
        #expect(
            try await store.removeIdentity(
                one.id, of: userID(1), keepingAccess: false, recording: event(.identityUnlinked))
                == .removed)
    }

    private func passkey(_ number: Int) -> Passkey {
        Passkey(
            id: PasskeyID(random: [UInt8](repeating: UInt8(number), count: 16)),
            owner: userID(1), name: "key", credential: [UInt8(number)], publicKey: "key",
            signatureCount: 0, isSynced: false, created: .epoch)
    }
}
