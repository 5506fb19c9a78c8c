import AuthCore
import AuthStorage
import Testing

/// What every engine guarantees about events: each is recorded exactly when its change is made.
@Suite(.indexesAreUsed) struct EventRecordingTests {
    /// One call of a method that makes a change, and whether it must change something.
    private struct Step {
        let name: String
        let changes: Bool
        let call: (AuditEvent) async throws -> Void

        init(_ name: String, changes: Bool, _ call: @escaping (AuditEvent) async throws -> Void) {
            self.name = name
            self.changes = changes
            self.call = call
        }
    }

    /// Runs the steps in order. The recorded subjects must be the names of those that change.
    private func hold(_ store: any EngineStore, to steps: [Step]) async throws {
        for step in steps {
            let before = try await store.subjects
            try await step.call(event(.accountCreated, step.name))
            let after = try await store.subjects
            #expect(after == before + (step.changes ? [step.name] : []), "\(step.name)")
        }
    }

    @Test(arguments: Engine.allCases)
    func eventsOfAccounts(engine: Engine) async throws {
        let store = try await engine.open()
        let owner = userID(1)
        #expect(try await store.insert(user(1)))
        let id = accountID(1)
        let one = try account(1, owner: owner)
        try await hold(
            store,
            to: [
                Step("insert", changes: true) {
                    _ = try await store.insert(one, limit: 1, recording: $0)
                },
                Step("insert past the limit", changes: false) {
                    _ = try await store.insert(
                        account(2, owner: owner), limit: 1, recording: $0)
                },
                Step("insert what is taken", changes: false) {
                    _ = try await store.insert(one, limit: nil, recording: $0)
                },
                Step("replace", changes: true) {
                    _ = try await store.replaceCredential(
                        of: id, at: 1, with: .password(hash("a")), recording: $0)
                },
                Step("replace at an old version", changes: false) {
                    _ = try await store.replaceCredential(
                        of: id, at: 1, with: .password(hash("b")), recording: $0)
                },
                Step("disable", changes: true) {
                    _ = try await store.setState(
                        of: id, to: Account.State.disabled, recording: $0)
                },
                Step("disable again", changes: false) {
                    _ = try await store.setState(
                        of: id, to: Account.State.disabled, recording: $0)
                },
                Step("disable an unknown account", changes: false) {
                    _ = try await store.setState(
                        of: accountID(9), to: Account.State.disabled, recording: $0)
                },
                Step("replace of a disabled one", changes: false) {
                    _ = try await store.replaceCredential(
                        of: id, at: 3, with: .password(hash("b")), recording: $0)
                },
                Step("delete at another version", changes: false) {
                    _ = try await store.delete(id, at: 1, recording: $0)
                },
                Step("delete", changes: true) {
                    _ = try await store.delete(id, at: 3, recording: $0)
                },
                Step("delete again", changes: false) {
                    _ = try await store.delete(id, at: nil, recording: $0)
                },
                Step("insert what is retired", changes: false) {
                    _ = try await store.insert(one, limit: nil, recording: $0)
                },
                Step("free", changes: true) {
                    _ = try await store.free(one.address, recording: $0)
                },
                Step("free again", changes: false) {
                    _ = try await store.free(one.address, recording: $0)
                },
            ])
    }

    @Test(arguments: Engine.allCases)
    func eventsOfPasskeys(engine: Engine) async throws {
        let store = try await engine.open()
        let id = userID(1)
        #expect(try await store.insert(user(1)))
        try await hold(
            store,
            to: [
                Step("passkey", changes: true) {
                    _ = try await store.insert(passkey(1), limit: 1, recording: $0)
                },
                Step("passkey beyond the limit", changes: false) {
                    _ = try await store.insert(passkey(2), limit: 1, recording: $0)
                },
                Step("passkey again", changes: false) {
                    _ = try await store.insert(passkey(1), limit: 9, recording: $0)
                },
                Step("rename another's passkey", changes: false) {
                    _ = try await store.rename(
                        passkey(1).id, of: userID(2), to: "x", recording: $0)
                },
                Step("rename passkey", changes: true) {
                    _ = try await store.rename(passkey(1).id, of: id, to: "x", recording: $0)
                },
                Step("remove another's passkey", changes: false) {
                    _ = try await store.removePasskey(
                        passkey(1).id, of: userID(2), keepingAccess: true, recording: $0)
                },
                Step("remove passkey", changes: true) {
                    _ = try await store.removePasskey(
                        passkey(1).id, of: id, keepingAccess: true, recording: $0)
                },
            ])
    }

    @Test(arguments: Engine.allCases)
    func eventsOfIdentities(engine: Engine) async throws {
        let store = try await engine.open()
        let id = userID(1)
        #expect(try await store.insert(user(1)))
        try await hold(
            store,
            to: [
                Step("identity", changes: true) {
                    _ = try await store.insert(identity(1), at: 1, recording: $0)
                },
                Step("identity again", changes: false) {
                    _ = try await store.insert(identity(1), at: 1, recording: $0)
                },
                Step("identity of other credentials", changes: false) {
                    _ = try await store.insert(identity(2), at: 2, recording: $0)
                },
                Step("user with a taken identity", changes: false) {
                    _ = try await store.insert(user(2), with: identity(1), recording: $0)
                },
                Step("user with identity", changes: true) {
                    _ = try await store.insert(
                        user(2), with: identity(2, of: 2), recording: $0)
                },
                Step("unlink another's identity", changes: false) {
                    _ = try await store.removeIdentity(
                        identity(1).id, of: userID(2), keepingAccess: true, recording: $0)
                },
                Step("unlink", changes: true) {
                    _ = try await store.removeIdentity(
                        identity(1).id, of: id, keepingAccess: true, recording: $0)
                },
            ])
    }

    private func identity(_ number: Int, of owner: Int = 1) -> Identity {
        Identity(
            id: IdentityID(random: [UInt8](repeating: UInt8(number), count: 16)),
            owner: userID(owner), provider: "id", issuer: "https://id.test",
            subject: "\(number)", email: nil, created: .epoch)
    }

    @Test(arguments: Engine.allCases)
    func eventsOfSecondFactors(engine: Engine) async throws {
        let store = try await engine.open()
        let id = userID(1)
        #expect(try await store.insert(user(1)))
        try await hold(
            store,
            to: [
                Step("one-time codes", changes: true) {
                    _ = try await store.insert(totp, recoveryCodes: [digest(1)], recording: $0)
                },
                Step("one-time codes again", changes: false) {
                    _ = try await store.insert(totp, recoveryCodes: [digest(2)], recording: $0)
                },
                Step("session without the second factor", changes: false) {
                    _ = try await store.insert(session(3), at: 1, limit: 9, recording: $0)
                },
                Step("another's recovery code", changes: false) {
                    _ = try await store.spendRecoveryCode(
                        digest(1), of: userID(2), recording: $0)
                },
                Step("recovery code", changes: true) {
                    _ = try await store.spendRecoveryCode(digest(1), of: id, recording: $0)
                },
                Step("recovery codes", changes: true) {
                    _ = try await store.replaceRecoveryCodes(
                        of: id, by: [digest(3)], recording: $0)
                },
                Step("one-time codes off", changes: true) {
                    _ = try await store.removeTOTP(of: id, recording: $0)
                },
                Step("one-time codes off again", changes: false) {
                    _ = try await store.removeTOTP(of: id, recording: $0)
                },
                Step("recovery codes without one-time codes", changes: false) {
                    _ = try await store.replaceRecoveryCodes(
                        of: id, by: [digest(4)], recording: $0)
                },
            ])
    }

    @Test(arguments: Engine.allCases)
    func eventsOfEmailLinks(engine: Engine) async throws {
        let store = try await engine.open()
        let id = userID(1)
        #expect(try await store.insert(user(1)))
        func link(_ number: Int, _ purpose: EmailLink.Purpose) -> EmailLink {
            EmailLink(
                digest: digest(number), owner: id, purpose: purpose, expiry: Instant(seconds: 9))
        }
        @Sendable func reset(_ event: AuditEvent) async throws {
            _ = try await store.resetPassword(
                by: digest(1), of: id, to: hash("x"), revokingTokens: false,
                removingCredentials: false, recording: event)
        }
        try await hold(
            store,
            to: [
                Step("link", changes: true) {
                    _ = try await store.insert(link(1, .passwordReset), at: 1, recording: $0)
                },
                Step("link for other credentials", changes: false) {
                    _ = try await store.insert(link(2, .passwordReset), at: 2, recording: $0)
                },
                Step("reset", changes: true) { try await reset($0) },
                Step("reset again", changes: false) { try await reset($0) },
                Step("another link", changes: true) {
                    _ = try await store.insert(link(3, .emailVerification), at: 2, recording: $0)
                },
                Step("verification", changes: true) {
                    _ = try await store.verifyEmail(by: digest(3), of: id, recording: $0)
                },
                Step("verification again", changes: false) {
                    _ = try await store.verifyEmail(by: digest(3), of: id, recording: $0)
                },
            ])
    }

    private func passkey(_ number: Int) -> Passkey {
        Passkey(
            id: PasskeyID(random: [UInt8](repeating: UInt8(number), count: 16)),
            owner: userID(1), name: "key", credential: [UInt8(number)], publicKey: "key",
            signatureCount: 0, isSynced: false, created: .epoch)
    }

    private let totp = StoredTOTP(
        owner: userID(1), sealedSecret: [1], lastStep: 1, created: .epoch)

    @Test(arguments: Engine.allCases)
    func eventsOfUsersAndTokens(engine: Engine) async throws {
        let store = try await engine.open()
        let id = userID(1)
        try await hold(
            store,
            to: [
                Step("insert", changes: true) {
                    _ = try await store.insert(user(1), recording: $0)
                },
                Step("insert again", changes: false) {
                    _ = try await store.insert(user(1), recording: $0)
                },
                Step("token", changes: true) {
                    _ = try await store.insert(token(1), limit: 1, recording: $0)
                },
                Step("token past the limit", changes: false) {
                    _ = try await store.insert(token(2), limit: 1, recording: $0)
                },
                Step("revoke another's", changes: false) {
                    _ = try await store.revoke(
                        tokenID(1), of: userID(2), at: .epoch, recording: $0)
                },
                Step("revoke", changes: true) {
                    _ = try await store.revoke(tokenID(1), of: id, at: .epoch, recording: $0)
                },
                Step("revoke again", changes: false) {
                    _ = try await store.revoke(tokenID(1), of: id, at: .epoch, recording: $0)
                },
                Step("session", changes: true) {
                    _ = try await store.insert(session(1), at: 1, limit: 9, recording: $0)
                },
                Step("session at another version", changes: false) {
                    _ = try await store.insert(session(2), at: 2, limit: 9, recording: $0)
                },
                Step("end another's session", changes: false) {
                    _ = try await store.endSession(sessionID(1), of: userID(2), recording: $0)
                },
                Step("end no other session", changes: false) {
                    _ = try await store.endSessions(of: id, except: sessionID(1), recording: $0)
                },
                Step("end session", changes: true) {
                    _ = try await store.endSession(sessionID(1), of: id, recording: $0)
                },
                Step("replace", changes: true) {
                    _ = try await store.replacePassword(
                        of: id, at: 1, with: hash("a"), recording: $0)
                },
                Step("replace at an old version", changes: false) {
                    _ = try await store.replacePassword(
                        of: id, at: 1, with: hash("b"), recording: $0)
                },
                Step("logout", changes: true) {
                    _ = try await store.endSessions(of: id, at: 2, recording: $0)
                },
                Step("logout at an old version", changes: false) {
                    _ = try await store.endSessions(of: id, at: 2, recording: $0)
                },
                Step("enable an active one", changes: false) {
                    _ = try await store.setState(of: id, to: User.State.active, recording: $0)
                },
                Step("disable", changes: true) {
                    _ = try await store.setState(of: id, to: User.State.disabled, recording: $0)
                },
                Step("token by an ended session", changes: false) {
                    _ = try await store.insert(token(2), limit: 1, recording: $0)
                },
            ])
    }

    @Test(arguments: Engine.allCases)
    func eventsOfDomainsAndKeys(engine: Engine) async throws {
        let store = try await engine.open()
        let owner = userID(1)
        #expect(try await store.insert(user(1)))
        func verify(_ event: AuditEvent) async throws {
            _ = try await store.setVerification(
                of: domainID(1), to: .verified, hasMX: true, at: .epoch, recording: event)
        }
        try await hold(
            store,
            to: [
                Step("verify nothing", changes: false, verify),
                Step("insert", changes: true) {
                    _ = try await store.insert(domain(1), limit: 1, recording: $0)
                },
                Step("insert past the limit", changes: false) {
                    _ = try await store.insert(domain(2), limit: 1, recording: $0)
                },
                Step("insert again", changes: false) {
                    _ = try await store.insert(domain(1), limit: nil, recording: $0)
                },
                Step("verify", changes: true, verify),
                Step("verify again", changes: false, verify),
                Step("remove another's", changes: false) {
                    _ = try await store.removeDomain(domainID(1), of: nil, recording: $0)
                },
                Step("remove", changes: true) {
                    _ = try await store.removeDomain(domainID(1), of: owner, recording: $0)
                },
                Step("remove again", changes: false) {
                    _ = try await store.removeDomain(domainID(1), of: owner, recording: $0)
                },
                Step("rotate", changes: true) {
                    try await store.rotate(to: key("a"), retiring: .epoch, recording: $0)
                },
                Step("rotate to one that is there", changes: false) { event in
                    await #expect(throws: StorageError.duplicateKey(id: "a")) {
                        try await store.rotate(to: key("a"), retiring: .epoch, recording: event)
                    }
                },
            ])
    }

    @Test(arguments: Engine.allCases)
    func aDomainThatCannotBeRemovedRecordsNoEvent(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        #expect(try await store.insert(domain(1, isVerified: true)) == .inserted)
        #expect(try await store.insert(account(1, "a@domain1.test")))
        let before = try await store.subjects
        #expect(try await store.removeDomain(domainID(1), of: userID(1)) == .inUse)
        #expect(try await store.subjects == before)
    }

    @Test(arguments: Engine.allCases)
    func ofConcurrentChangesOnlyTheSuccessfulOneRecordsAnEvent(engine: Engine) async throws {
        let store = try await engine.open()
        let won = try await winners(of: 50) { number in
            try await store.insert(
                account(number, "wanted@mail.test"), limit: nil,
                recording: event(.accountCreated, "\(number)")) == .inserted
        }
        #expect(won == 1)
        let winner = try #require(
            try await store.account(address: address("wanted@mail.test")))
        let subjects = try await store.subjects
        #expect(subjects.map { Int($0).map(accountID) } == [winner.id])
    }
}
